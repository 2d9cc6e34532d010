/**
 * The gate of one process in front of the wire: no more requests under way than its share of the limit. While no limit is known, it
 * keeps requests of the background apart (spacing.ts).
 *
 * A token is asked for when a slot will soon be free, and the slot is taken directly before the request is sent: what is done
 * between the two does not keep a slot from others.
 */
import type { Lane } from '../../../domain/ports/send-permit.ts'
import type { SlotsAsked, SlotsGiven } from './leases.ts'
import { createSpacing } from './spacing.ts'

interface Flying {
  lane: Lane
  grantedMs: number
  /** It could be sent since. */
  readyMs: number
  /** On the wire since. */
  leftMs?: number
  /** It waited for a slot: the rate was not the bottleneck. */
  isBound: boolean
  /** It took the last slot. */
  isFull: boolean
  go?: () => void
}

export interface Landed {
  leftMs: number
  isBound: boolean
  isFull: boolean
}

/** Granted requests that stand ready for the next slot, as a share of the slots. */
const readyPart = 0.5
const fewestReady = 2
/** Requests that are being prepared, as a multiple of what leaves in the time that this takes. */
const preparingPart = 2.5
const mostPreparing = 64
/**
 * The request beyond the limit leaves when nothing has ended for this share of the usual time between two ends. Where slots become
 * free together, others of them are about to, and it would not be known how many the server still had.
 */
const clearPart = 0.5
/** A test for which nothing stood ready is kept for so long: the learner waits little longer for its outcome. */
const testKeptMs = 3_000
/** A request that has not ended by now never tells. */
const lostMs = 600_000
const renewMs = 1_000
const smoothing = 0.1
/** Without a share of its own, a process asks this often for one. */
const shareAskMs = 40
const earlyMs = 0.3

export function createGate(
  process: string,
  now: () => number,
  after: (ms: number, work: () => void) => void = (ms, work) => void setTimeout(work, ms),
) {
  const flights = new Map<string, Flying>()
  let given: SlotsGiven | undefined
  /** The request beyond the limit has been sent, or refusals came since: the share is less until the next answer of Redis. */
  let lessBy = 0
  let testKeptUntilMs = -Infinity
  /** A test has left since Redis was told what is under way: the others have a slot less until it ends. */
  let hasTested = false
  let lastLandedMs = -Infinity
  let askedMs = -Infinity
  /** While Redis is asked, no more than it was told: another process may be given the rest. */
  let toldUnderWay = Infinity
  let underWay = 0
  /** The usual time between two requests that had to wait. */
  let usualMs = 0
  /** The usual time from a token to its request standing ready, and that of a request under way. */
  const preparedMs = usual()
  const servedMs = usual()
  let lastLeftMs = 0
  const spacing = createSpacing(now)
  let wakesMs = Infinity

  function share(): number {
    return given ? Math.min(toldUnderWay, Math.max(0, given.share - lessBy)) : Infinity
  }

  /** Without the slot of a test that is still to be made. */
  function ownShare(): number {
    return given?.isTest && lessBy === 0 ? Math.min(share(), given.share - 1) : share()
  }

  function free(): void {
    for (;;) {
      const ready = [...flights.values()].filter((flight) => flight.go)
      const next = ready.find(({ lane }) => lane === 'hot') ?? ready[0]
      if (!next?.go || underWay >= share()) return
      const inMs = leavesInMs(next)
      if (inMs > earlyMs) return wakeIn(inMs)
      leave(next, next.go)
    }
  }

  /** A press waits for nobody, and no slot is left empty but that of a test. */
  function leavesInMs({ lane, readyMs }: Flying): number {
    if (given)
      return isTestNext(given) ? lastLandedMs + (clearPart * servedMs.value) / given.share - now() : 0
    return lane === 'hot' ? 0 : spacing.leavesInMs(readyMs)
  }

  function isTestNext({ isTest, share }: SlotsGiven): boolean {
    return isTest && lessBy === 0 && underWay === share - 1
  }

  /** A test that was given and not made yet goes on: no other process is given it. */
  function withTest(slots: SlotsGiven | undefined): SlotsGiven | undefined {
    const isKept = given?.isTest && lessBy === 0 && now() < testKeptUntilMs
    if (!isKept || !slots || slots.isTest || slots.share === 0 || slots.held > slots.share) return slots
    return { ...slots, share: slots.share + 1, isTest: true }
  }

  function wakeIn(ms: number): void {
    const atMs = now() + ms
    if (wakesMs <= atMs) return
    wakesMs = atMs
    after(ms, () => {
      if (wakesMs === atMs) wakesMs = Infinity
      free()
    })
  }

  function leave(flight: Flying, go: () => void): void {
    delete flight.go
    flight.leftMs = now()
    // Before it had its token nothing waited: idle time is none of it.
    const sinceMs = Math.max(lastLeftMs, flight.grantedMs)
    if (flight.isBound) usualMs += smoothing * (flight.leftMs - sinceMs - usualMs)
    lastLeftMs = flight.leftMs
    spacing.left(flight.readyMs)
    underWay += 1
    // A request that left before a limit was known kept to none.
    flight.isFull = !given || underWay >= ownShare()
    if (given?.isTest && underWay >= given.share && lessBy === 0) {
      lessBy = 1
      hasTested = true
    }
    go()
  }

  /** Tokens for requests that are not on the wire: with fewer, slots would be empty while the next requests are prepared. */
  function ahead(slots: number): number {
    const leaving = servedMs.value > 0 ? (slots * preparedMs.value) / servedMs.value : 0
    const preparing = Math.min(mostPreparing, Math.ceil(preparingPart * leaving))
    return Math.max(fewestReady, Math.floor(readyPart * slots), preparing)
  }

  /** Slots that were given and are neither used nor of its share any more. */
  function owes(): boolean {
    return given !== undefined && given.held > Math.max(underWay, wanted(0) === 0 ? 0 : given.share)
  }

  function wanted(waiting: number): number {
    return flights.size + waiting
  }

  function sweep(): void {
    for (const [id, flight] of flights) {
      if (now() - flight.grantedMs < lostMs) continue
      flights.delete(id)
      if (flight.leftMs !== undefined) underWay -= 1
    }
  }

  return {
    /** Tokens that may be asked for now. */
    room(): number {
      const slots = share()
      if (slots === Infinity) return Infinity
      return Math.max(0, slots + (slots > 0 ? ahead(slots) : 0) - flights.size)
    },

    /** A token was granted for a request that will be sent. */
    granted(id: string, lane: Lane): void {
      flights.set(id, { lane, grantedMs: now(), readyMs: now(), isBound: false, isFull: false })
    },

    /** Permits are given in these intervals now. */
    paced(intervalMs: number): void {
      if (spacing.paced(intervalMs)) free()
    },

    /** Requests that have their permits already wait as the next permits do. */
    pause(untilMs: number): void {
      if (spacing.pause(untilMs)) free()
    },

    /** Calls `go` when the request may be sent, at once or later. A request that is not known may be sent at once. */
    depart(id: string, go: () => void): void {
      const flight = flights.get(id)
      if (!flight || flight.leftMs !== undefined) return go()
      flight.isBound = underWay >= share()
      flight.readyMs = now()
      preparedMs.see(flight.readyMs - flight.grantedMs)
      flight.go = go
      free()
    },

    /** The request has ended, in whatever way, or is not sent at all. */
    landed(id: string, isRefused: boolean): Landed | undefined {
      const flight = flights.get(id)
      if (!flight) return undefined
      flights.delete(id)
      if (flight.leftMs === undefined) return undefined
      underWay -= 1
      lastLandedMs = now()
      if (!isRefused) servedMs.see(now() - flight.leftMs)
      else spacing.refused()
      if (isRefused && flight.isFull && given && share() > 1) lessBy += 1
      free()
      return { leftMs: flight.leftMs, isBound: flight.isBound, isFull: flight.isFull }
    },

    asked(waiting: { hot: number; background: number }): SlotsAsked {
      askedMs = now()
      toldUnderWay = underWay
      hasTested = false
      sweep()
      const hot = waiting.hot > 0 || [...flights.values()].some(({ lane }) => lane === 'hot')
      return { process, underWay, want: wanted(waiting.hot + waiting.background), hot }
    },

    told(slots: SlotsGiven | undefined): void {
      if (slots?.isTest) testKeptUntilMs = now() + testKeptMs
      given = withTest(slots)
      lessBy = 0
      toldUnderWay = Infinity
      free()
    },

    /** The time between two requests while slots are the bottleneck; 0 while no limit is known. */
    intervalMs(): number {
      return given ? usualMs : 0
    },

    /** Milliseconds until the leases are to be asked for again; Infinity when there are none. */
    askInMs(waiting: number): number {
      if (!given) return Infinity
      if (owes() || hasTested) return 0
      if (wanted(waiting) === 0 && given.held === 0) return Infinity
      return Math.max(0, askedMs + (given.share === 0 ? shareAskMs : renewMs) - now())
    },
  }
}

/** A mean of the last dozen or so, from the first on. */
function usual() {
  let seen = 0
  return {
    value: 0,
    see(ms: number): void {
      seen += 1
      this.value += Math.max(smoothing, 1 / seen) * (ms - this.value)
    },
  }
}

export type Gate = ReturnType<typeof createGate>
