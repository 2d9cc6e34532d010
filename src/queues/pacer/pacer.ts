import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { decodeGrant, encodeGrant } from './grant.ts'
import { createSharedState, type SharedState } from './shared-state.ts'
import { defaultLearnerTerms, newLearner, type Learner, type LearnerTerms, type Outcome } from './learner.ts'
import { learn } from './state.ts'
import { snapshotOf, type PacerSnapshot } from './snapshot.ts'
import { defaultTokenTerms, type Lane, type TokenTerms } from './token.ts'

export type { Lane } from './token.ts'
export type { PacerSnapshot } from './snapshot.ts'

export type Take = { granted: true; grantId: string } | { granted: false; retryInMs: number }

export interface RequestOutcome {
  grantId: string
  kind: 'ok' | 'limited' | 'other'
  /** From `Retry-After`. */
  retryAfterMs?: number | undefined
  /** From `RateLimit-*`. */
  rateLimit?: { remaining: number; resetMs: number; limit?: number | undefined } | undefined
}

/**
 * The right to send one request now, shared by every process that names the same pacer in the same Redis.
 *
 * @example
 * const token = await pacer.take({ lane: 'bulk', maxWaitMs: 2000 })
 * if (!token.granted) throw new PutBack(token.retryInMs)
 * const response = await send()
 * await pacer.report({ grantId: token.grantId, kind: response.status === 429 ? 'limited' : 'ok' })
 */
export interface Pacer {
  /**
   * Waits in this process up to `maxWaitMs` for a token; when the wait would be longer, answers `granted: false` at once, and the
   * caller puts its job back in the queue without consuming an attempt.
   * @throws the reason of `signal` when aborted while waiting; Redis's error when it cannot be asked
   */
  take(options: { lane: Lane; maxWaitMs: number; signal?: AbortSignal | undefined }): Promise<Take>
  /**
   * Tells the shared state what came of a request. `ok` is kept for a few milliseconds and sent in bunches; `limited` is sent at
   * once and awaited. Never rejects for Redis's sake: what could not be sent goes with the next report.
   */
  report(outcome: RequestOutcome): Promise<void>
  snapshot(): Promise<PacerSnapshot>
  /** All that was learned, as JSON, for a store that outlives Redis. */
  export(): Promise<string>
  /** Puts back what `export` gave, unless Redis knows more than that. Begins at 0.9 of the learned rate. */
  import(exported: string): Promise<void>
  /** Sends what is still held; refuses who still waits. The Redis connection belongs to the caller. */
  close(): Promise<void>
}

export interface PacerOptions extends Partial<LearnerTerms>, Partial<TokenTerms> {
  /** One a service host and access path. */
  name: string
  /** Of the keys in Redis. */
  prefix: string
  /** How long successes are held back to go together. */
  flushMs?: number
}

interface Waiter {
  lane: Lane
  deadlineMs: number
  settle(answer: Take): void
  fail(error: unknown): void
}

/** Outcomes kept while Redis is away; older ones would teach nothing anyway. */
const heldOutcomes = 5000
const commitTries = 12

export function createPacer(redis: Redis, options: PacerOptions): Pacer {
  const learnerTerms = { ...defaultLearnerTerms, ...definedOf(options, defaultLearnerTerms) }
  const tokenTerms = { ...defaultTokenTerms, ...definedOf(options, defaultTokenTerms) }
  const shared = createSharedState(redis, `${options.prefix}:pacer:${options.name}`, {
    token: tokenTerms,
    learner: learnerTerms,
  })
  const line = createWaitingLine(shared, tokenTerms.horizonMs)
  const reports = createReports(shared, learnerTerms, options.flushMs ?? 50)

  return {
    take: (wanted) => line.take(wanted),
    report: (outcome) => reports.add(outcome),

    async snapshot() {
      const { learner, nowMs } = await shared.read()
      return snapshotOf(learner, nowMs)
    },

    async export() {
      return JSON.stringify((await shared.read()).learner)
    },

    async import(exported) {
      const known = { ...newLearner(learnerTerms), ...(JSON.parse(exported) as Learner) }
      for (let i = 0; i < commitTries; i++) {
        const { version, learner, nowMs } = await shared.read()
        if (learner.totals.ok >= known.totals.ok) return
        const rate = known.phase === 'learn' ? known.rate : known.rate * 0.9
        if ((await shared.commit(version, { ...known, rate }, nowMs)) !== null) return
      }
    },

    async close() {
      line.close()
      await reports.close()
    },
  }
}

/** Who waits in this process. One question to Redis at a time, for all of them together, hot first. */
function createWaitingLine(shared: SharedState, horizonMs: number) {
  const waiting: Record<Lane, Waiter[]> = { hot: [], bulk: [] }
  let asking = false
  let wake: (() => void) | null = null
  let closed = false

  async function serve(): Promise<void> {
    asking = true
    while (waiting.hot.length + waiting.bulk.length > 0) {
      try {
        const waitMs = await askOnce()
        if (waiting.hot.length + waiting.bulk.length > 0) await pause(waitMs)
      } catch (error) {
        for (const waiter of [...waiting.hot.splice(0), ...waiting.bulk.splice(0)]) waiter.fail(error)
      }
    }
    asking = false
  }

  async function askOnce(): Promise<number> {
    const answer = await shared.take({ hot: waiting.hot.length, bulk: Math.min(waiting.bulk.length, 50) })
    for (const grant of answer.grants) {
      // Whoever asked may have left meanwhile: a token for nobody is lost, not handed to a request that was not asked for.
      const waiter = waiting[grant.lane].shift() ?? waiting.bulk.shift()
      if (!waiter) continue
      // A late caller's token lies in the past; it is used now.
      const grantId = encodeGrant(
        { ...grant, atMs: Math.max(grant.atMs, answer.nowMs) },
        randomBytes(4).toString('hex'),
      )
      const inMs = grant.atMs - answer.nowMs
      if (inMs > 1) setTimeout(() => waiter.settle({ granted: true, grantId }), inMs)
      else waiter.settle({ granted: true, grantId })
    }
    refuseHopeless('hot', answer.hotWaitMs, answer.intervalMs)
    refuseHopeless('bulk', answer.bulkWaitMs, answer.intervalMs)
    const waitMs = waiting.hot.length > 0 ? answer.hotWaitMs : answer.bulkWaitMs
    // Back before the token is due, so that a late timer costs nothing of the rate; and now and then, because blocks end early.
    return Math.min(250, Math.max(1, waitMs - horizonMs / 2))
  }

  /** The n-th in line waits n intervals more; other processes' lines are not known and come on top. */
  function refuseHopeless(lane: Lane, waitMs: number, intervalMs: number): void {
    const nowMs = performance.now()
    waiting[lane] = waiting[lane].filter((waiter, place) => {
      const ownWaitMs = Math.max(1, waitMs + place * intervalMs)
      if (nowMs + ownWaitMs <= waiter.deadlineMs) return true
      waiter.settle({ granted: false, retryInMs: Math.ceil(ownWaitMs) })
      return false
    })
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms)
      function done() {
        clearTimeout(timer)
        wake = null
        resolve()
      }
      wake = done
    })
  }

  return {
    take({ lane, maxWaitMs, signal }: Parameters<Pacer['take']>[0]): Promise<Take> {
      if (closed) return Promise.resolve({ granted: false, retryInMs: 1000 })
      return new Promise<Take>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const leave = () => {
          waiting[lane] = waiting[lane].filter((w) => w !== waiter)
          reject(signal?.reason)
        }
        const waiter: Waiter = {
          lane,
          deadlineMs: performance.now() + maxWaitMs,
          settle: (answer) => (signal?.removeEventListener('abort', leave), resolve(answer)),
          fail: (error) => (signal?.removeEventListener('abort', leave), reject(error)),
        }
        signal?.addEventListener('abort', leave, { once: true })
        const wasEmpty = waiting.bulk.length === 0
        waiting[lane].push(waiter)
        if (!asking) void serve()
        else if (lane === 'hot' || wasEmpty) wake?.()
      })
    },

    close() {
      closed = true
      for (const waiter of [...waiting.hot.splice(0), ...waiting.bulk.splice(0)]) {
        waiter.settle({ granted: false, retryInMs: 1000 })
      }
      wake?.()
    },
  }
}

/** What came back in this process, on its way to the learner. */
function createReports(shared: SharedState, terms: LearnerTerms, flushMs: number) {
  let held: Outcome[] = []
  let known: { version: string; learner: Learner } | null = null
  /** Redis's clock less this process's. */
  let clockMs: number | null = null
  let flushing: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    while (flushing) await flushing
    if (held.length === 0) return
    flushing = send().finally(() => (flushing = null))
    await flushing
  }

  async function send(): Promise<void> {
    const batch = held
    held = []
    try {
      for (let i = 0; i < commitTries; i++) {
        if (!known || clockMs === null || i > 0) await refresh()
        const { learner, version } = known!
        const offset = clockMs!
        const next = batch.reduce((state, o) => learn(state, { ...o, atMs: o.atMs + offset }, terms), learner)
        const askedMs = performance.now()
        const stored = await shared.commit(version, next, askedMs + offset)
        if (stored === null) continue
        known = { version: stored.version, learner: next }
        keepTime(stored.nowMs, askedMs)
        return
      }
    } catch {
      // Redis is away: its own client reports that. The outcomes wait.
    }
    held = [...batch, ...held].slice(-heldOutcomes)
    schedule()
  }

  async function refresh(): Promise<void> {
    const askedMs = performance.now()
    const { nowMs, version, learner } = await shared.read()
    keepTime(nowMs, askedMs)
    // Counts only grow, so smaller ones mean that Redis was emptied: this process still knows what was learned.
    const emptied = known !== null && learner.totals.ok < known.learner.totals.ok
    known = { version, learner: emptied && known ? known.learner : learner }
  }

  function keepTime(redisNowMs: number, askedMs: number): void {
    clockMs = redisNowMs - (askedMs + performance.now()) / 2
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), flushMs).unref()
  }

  return {
    async add(outcome: RequestOutcome): Promise<void> {
      if (outcome.kind === 'other') return
      const { atMs, ...grant } = decodeGrant(outcome.grantId)
      held.push({
        ...grant,
        sentAtMs: atMs,
        atMs: performance.now(),
        kind: outcome.kind,
        retryAfterMs: outcome.retryAfterMs,
        rateLimit: outcome.rateLimit,
      })
      if (outcome.kind === 'limited') await flush()
      else schedule()
    },
    close: flush,
  }
}

function definedOf<T extends object>(options: Partial<T>, keys: T): Partial<T> {
  const defined: Partial<T> = {}
  for (const key of Object.keys(keys) as (keyof T)[]) {
    if (options[key] !== undefined) defined[key] = options[key]
  }
  return defined
}
