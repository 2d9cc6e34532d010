// One file because processes, limits and the clock are one model.
/**
 * Simulates the pacer against servers with hidden limits, in virtual time. It uses the same `takeTokens` and `learn` as
 * Redis does, and processes that ask and report as `pacer.ts` does, with round trips to Redis, late timers, latency and
 * batched reports. It is seeded, so every figure is computed and not timed.
 */
import { createGate } from './flight/gate.ts'
import { leaseSlots, type Leases, type SlotLimit } from './flight/leases.ts'
import {
  defaultLearnerSettings,
  newLearner,
  pausedUntilMs,
  type Learner,
  type LearnerSettings,
  type Outcome,
} from './learner.ts'
import { holdMs, isRipe } from './reports.ts'
import { createRising } from './rising.ts'
import { learn, paceOf } from './state.ts'
import { createStock } from './stock.ts'
import { blockMs, defaultTokenSettings, emptyMeter, fineMs, takeTokens, type TokenGrant } from './token.ts'

/** Returns whether a request that arrives now is served. */
export interface HiddenLimit {
  (atMs: number): boolean
  /** Called when a request that was served has its answer. */
  left?: () => void
  /** The pause that a refusal announces. */
  retryAfterMs?: (atMs: number) => number
}

export interface Scenario {
  seed: number
  /** Built with the random numbers of the run. */
  limit: (random: () => number) => HiddenLimit
  /** The most requests that the server would have served between two times. */
  permitted: (fromMs: number, toMs: number) => number
  durationMs: number
  workers?: number
  processes?: number
  settings?: LearnerSettings
  /** Time from the grant to the server's count: the median of a lognormal distribution. */
  outboundMs?: number | undefined
  outboundSpread?: number | undefined
  /** Time from the server's count to its answer; lognormal around 130 ms when not given. */
  serviceMs?: ((random: () => number) => number) | undefined
  /** The process does other work in between, for which its timers and answers wait: so long at a time, so often, on average. */
  busy?: { forMs: number; everyMs: number } | undefined
  /** From the permit to the request standing ready in front of the gate, which then holds requests apart. */
  preparedMs?: ((random: () => number) => number) | undefined
  /** Called with every step of the learner. */
  trace?: (outcome: Outcome, after: Learner, before: Learner) => void
}

export interface Measured {
  sent: number
  refused: number
  use: number
  refusedShare: number
}

export interface Run {
  between(fromMs: number, toMs: number): Measured
  /** Commands sent to Redis between two times. */
  commandsBetween(fromMs: number, toMs: number): number
  learner: Learner
}

const redisLegMs = 0.5
const flushMs = 50
const lateTimerMs = 1.5

export function simulate(scenario: Scenario): Run {
  const { durationMs, workers = 100, processes = 1, outboundMs, outboundSpread } = scenario
  const service = scenario.serviceMs ?? usualService
  const random = seeded(scenario.seed)
  const admits = scenario.limit(random)
  const events = createTimeline()
  const arrivals: { atMs: number; served: boolean }[] = []
  const commands: number[] = []
  const settings = scenario.settings ?? defaultLearnerSettings
  let learner = newLearner(settings)
  let meter = emptyMeter
  let leases: Leases = {}
  let testTaken = 0

  for (let p = 0; p < processes; p++) runProcess(`process ${p}`, Math.ceil(workers / processes))
  events.run(durationMs)
  return {
    learner,
    between,
    commandsBetween: (fromMs, toMs) => commands.filter((atMs) => atMs >= fromMs && atMs < toMs).length,
  }

  function runProcess(name: string, ownWorkers: number): void {
    let waiting = ownWorkers
    let asks = 0
    let grants = 0
    const held: Outcome[] = []
    const stock = createStock<TokenGrant>()
    const rising = createRising(0)
    let takesBlocks = false
    let mayTakeAhead = false
    let heldSinceMs = 0
    let flushes = 0
    /** It asks for slots only: there was no room for a request. What is prepared makes room too, and wakes nobody. */
    let rests = false
    const own = scenario.busy ? createBusy(events, scenario.busy, random) : events
    const gate = createGate(name, events.now, own.after)
    ask()

    /** Only the last of several loops goes on: a call replaces the pause of the one before. */
    function ask(): void {
      const turn = ++asks
      rests = false
      events.after(redisLegMs, () => {
        const nowMs = events.now()
        commands.push(nowMs)
        const isFlushed = held.length > 0 && isRipe(nowMs - heldSinceMs, holdsMs())
        const background = Math.min(50, waiting, gate.room())
        const ahead = mayTakeAhead ? Math.min(50, stock.lacks(background, nowMs)) : 0
        const wanted = { hot: 0, background: background + ahead }
        const pace = paceOf(learner, nowMs)
        const answer = takeTokens(meter, pace, nowMs, wanted, {
          ...defaultTokenSettings,
          ...(takesBlocks ? { horizonMs: blockMs } : {}),
        })
        meter = answer.meter
        rising.see(pace.intervalMs, nowMs)
        takesBlocks = pace.intervalMs < fineMs && rising.isOver(nowMs)
        mayTakeAhead = takesBlocks && !pace.flight && pace.windows.length === 0
        if (!mayTakeAhead) stock.clear()
        for (const grant of answer.grants) {
          if (waiting > 0) hand(grant, nowMs, nowMs + redisLegMs)
          else if (mayTakeAhead) stock.put({ grant, dueMs: grant.atMs })
        }
        const slots = pace.flight && lease(pace.flight, nowMs)
        const lateMs = waiting > 0 || slots ? random() * lateTimerMs : 0
        own.after(redisLegMs, () => {
          gate.told(slots)
          if (scenario.preparedMs) gate.paced(pace.intervalMs)
          if (isFlushed) own.after(redisLegMs, flush)
          const tokenInMs = Math.max(1, answer.backgroundWaitMs - defaultTokenSettings.horizonMs / 2)
          again(turn, tokenInMs, lateMs)
        })
      })
    }

    function hand(grant: TokenGrant, grantedMs: number, leastMs: number): void {
      const id = `${grants++}`
      waiting--
      stock.used(events.now())
      gate.granted(id, grant.lane)
      const preparedMs = scenario.preparedMs?.(random) ?? 0
      own.at(Math.max(grant.atMs, leastMs) + preparedMs, () =>
        gate.depart(id, () => send(id, grant, grantedMs)),
      )
    }

    function again(turn: number, tokenInMs: number, lateMs: number): void {
      const hasRoom = waiting > 0 && gate.room() > 0
      rests = !hasRoom
      const pauseMs = Math.min(hasRoom ? Math.min(250, tokenInMs) : Infinity, gate.askInMs(waiting))
      if (pauseMs < Infinity) {
        own.after(pauseMs + lateMs, () => turn === asks && ask())
      }
    }

    function lease(limit: SlotLimit, nowMs: number) {
      const leased = leaseSlots(leases, testTaken, limit, gate.asked({ hot: 0, background: waiting }), nowMs)
      leases = leased.leases
      testTaken = leased.testTaken
      return leased.given
    }

    function send(id: string, grant: TokenGrant, askedMs: number): void {
      const outMs = outboundDelay(random, outboundMs, outboundSpread)
      events.after(outMs, () => {
        const served = admits(events.now())
        arrivals.push({ atMs: events.now(), served })
        const serviceMs = served ? service(random) : 1
        const retryAfterMs = served ? undefined : admits.retryAfterMs?.(events.now())
        if (served && admits.left) events.after(serviceMs, admits.left)
        own.after(serviceMs + outMs, () =>
          receive(id, { ...grant, atMs: Math.max(grant.atMs, askedMs) }, served, retryAfterMs),
        )
      })
    }

    function receive(id: string, grant: TokenGrant, served: boolean, retryAfterMs?: number): void {
      const { atMs: sentAtMs, ...facts } = grant
      const hadRoom = waiting > 0 && gate.room() > 0
      const landed = gate.landed(id, !served)
      held.push({
        ...facts,
        ...landed,
        retryAfterMs,
        sentAtMs: landed?.leftMs ?? sentAtMs,
        grantedAtMs: sentAtMs,
        atMs: events.now(),
        kind: served ? 'ok' : 'limited',
      })
      if (held.length === 1) heldSinceMs = events.now()
      waiting++
      const permit = waiting === 1 ? stock.take(events.now()) : undefined
      if (permit) hand(permit.grant, events.now(), events.now())
      else if ((!hadRoom || rests) && gate.room() > 0) ask()
      if (!served) events.after(redisLegMs, flush)
      else if (held.length === 1) {
        const turn = flushes
        own.after(holdsMs() + random() * lateTimerMs, () => turn === flushes && flush())
      }
    }

    function holdsMs(): number {
      return holdMs(learner, flushMs, settings)
    }

    function flush(): void {
      flushes++
      if (held.length > 0) commands.push(events.now())
      for (const outcome of held.splice(0)) {
        const before = learner
        learner = learn(before, outcome, settings)
        scenario.trace?.(outcome, learner, before)
      }
      gate.pause(pausedUntilMs(learner))
    }
  }

  function between(fromMs: number, toMs: number): Measured {
    const seen = arrivals.filter((a) => a.atMs >= fromMs && a.atMs < toMs)
    const refused = seen.filter((a) => !a.served).length
    return {
      sent: seen.length,
      refused,
      use: (seen.length - refused) / scenario.permitted(fromMs, toMs),
      refusedShare: refused / seen.length,
    }
  }
}

function usualService(random: () => number): number {
  return Math.min(450, Math.max(40, 130 * Math.exp(0.6 * normal(random))))
}

/** The delay from the grant to the server's count; lognormal. */
export function outboundDelay(random: () => number, medianMs = 12, spread = 0.5): number {
  return Math.min(60, Math.max(3, medianMs * Math.exp(spread * normal(random))))
}

/** The count of a limit. A refused call may count as well. */
export interface LimitKind {
  /** Requests permitted in a window. A change takes effect at once. */
  limitAt: (atMs: number) => number
  windowMs: number
  countsRefused?: boolean
}

export function fixedWindow({ limitAt, windowMs }: LimitKind, random: () => number): HiddenLimit {
  const phaseMs = random() * windowMs
  let index = -1
  let used = 0
  return (atMs) => {
    const current = Math.floor((atMs + phaseMs) / windowMs)
    if (current !== index) used = 0
    index = current
    return ++used <= limitAt(atMs)
  }
}

export function slidingWindow({ limitAt, windowMs, countsRefused }: LimitKind): HiddenLimit {
  const log: number[] = []
  let first = 0
  return (atMs) => {
    while (first < log.length && log[first]! <= atMs - windowMs) first++
    const served = log.length - first < limitAt(atMs)
    if (served || countsRefused) log.push(atMs)
    return served
  }
}

/**
 * Holds the requests of one window and refills evenly. Where refusals count, it can go into debt by the same amount.
 */
export function tokenBucket({ limitAt, windowMs, countsRefused }: LimitKind): HiddenLimit {
  let level = limitAt(0)
  let lastMs = 0
  return (atMs) => {
    const limit = limitAt(atMs)
    level = Math.min(limit, level + ((atMs - lastMs) / windowMs) * limit)
    lastMs = atMs
    if (level >= 1) return (level--, true)
    if (countsRefused) level = Math.max(-limit, level - 1)
    return false
  }
}

/** Every limit must serve the request. When one refuses it, the request still counts in the limits checked before. */
export function everyLimit(...limits: HiddenLimit[]): HiddenLimit {
  return (atMs) => limits.every((admits) => admits(atMs))
}

/** The events of a process that is busy at times: what falls into such a time comes at its end, all at once. */
function createBusy(
  events: ReturnType<typeof createTimeline>,
  { forMs, everyMs }: NonNullable<Scenario['busy']>,
  random: () => number,
): Pick<typeof events, 'at' | 'after'> {
  let [fromMs, untilMs] = [0, 0]
  function freeAt(atMs: number): number {
    while (atMs >= untilMs) {
      fromMs = untilMs - Math.max(0, everyMs - forMs) * Math.log(1 - random())
      untilMs = fromMs + forMs * (0.5 + random())
    }
    return atMs < fromMs ? atMs : untilMs
  }
  return {
    at: (atMs, run) => events.at(atMs, () => events.at(freeAt(events.now()), run)),
    after: (ms, run) => events.after(ms, () => events.at(freeAt(events.now()), run)),
  }
}

function createTimeline() {
  const heap: { atMs: number; order: number; run: () => void }[] = []
  let nowMs = 0
  let order = 0
  const before = (a: number, b: number) =>
    heap[a]!.atMs < heap[b]!.atMs || (heap[a]!.atMs === heap[b]!.atMs && heap[a]!.order < heap[b]!.order)
  const swap = (a: number, b: number) => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }

  function at(atMs: number, run: () => void): void {
    heap.push({ atMs: Math.max(atMs, nowMs), order: order++, run })
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1
      if (!before(i, parent)) break
      swap(i, parent)
      i = parent
    }
  }

  function pop() {
    const top = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return top
    heap[0] = last
    for (let i = 0; ;) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < heap.length && before(child, least)) least = child
      if (least === i) return top
      swap(i, least)
      i = least
    }
  }

  return {
    now: () => nowMs,
    at,
    after: (ms: number, run: () => void) => at(nowMs + ms, run),
    run(untilMs: number): void {
      while (heap.length > 0 && heap[0]!.atMs <= untilMs) {
        const event = pop()
        nowMs = event.atMs
        event.run()
      }
    },
  }
}

export function seeded(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
