/**
 * The slots of a limit on requests under way, shared by processes. A process that asks holds its slots for a few seconds, so those of
 * a dead one come back by themselves.
 *
 * This exists twice: here for the simulation, and as Lua in lease-script.ts. `leases.test.ts` holds one against the other.
 */
interface Lease {
  /** Slots that nobody else may use. */
  slots: number
  /** Requests that the process has under way or waiting. */
  want: number
  /** A press is among them. */
  hot: boolean
  untilMs: number
}

export type Leases = Readonly<Record<string, Lease>>

export interface SlotsAsked {
  process: string
  underWay: number
  want: number
  hot: boolean
}

export interface SlotLimit {
  limit: number
  /** The number of the last test: one request beyond the limit. 0: none yet. */
  test: number
}

export interface SlotsGiven {
  /** Requests that the process may have under way. */
  share: number
  /** The slots that it holds, with those of requests beyond its share that are still under way. */
  held: number
  /** One of the slots of the share is beyond the limit, for one request. */
  isTest: boolean
}

export const leaseMs = 3_000
/** The slots that cannot be divided go round. */
export const turnMs = 1_000

export function leaseSlots(
  before: Leases,
  testTaken: number,
  { limit, test }: SlotLimit,
  asked: SlotsAsked,
  nowMs: number,
): { leases: Leases; testTaken: number; given: SlotsGiven } {
  const now = Math.floor(nowMs)
  const leases: Record<string, Lease> = {}
  for (const [process, lease] of Object.entries(before)) {
    if (lease.untilMs > now) leases[process] = { ...lease, untilMs: Math.min(lease.untilMs, now + leaseMs) }
  }
  const { process, underWay, want, hot } = asked
  const mine = { slots: leases[process]?.slots ?? 0, want, hot, untilMs: now + leaseMs }
  leases[process] = mine
  let others = 0
  for (const [name, lease] of Object.entries(leases)) if (name !== process) others += lease.slots
  const share = Math.max(0, Math.min(fairShare(leases, process, limit, now), limit - others))
  mine.slots = Math.max(underWay, share)
  const isTest = test > testTaken && want > share && share > 0 && others + share >= limit
  if (want === 0 && mine.slots === 0) delete leases[process]
  return {
    leases,
    testTaken: isTest ? test : testTaken,
    given: { share: isTest ? share + 1 : share, held: mine.slots, isTest },
  }
}

/** No process gets more than it wants; what is left is divided evenly, and the rest goes round, to presses first. */
function fairShare(
  leases: Readonly<Record<string, Lease>>,
  process: string,
  limit: number,
  nowMs: number,
): number {
  let names = Object.keys(leases).sort()
  let left = limit
  for (;;) {
    const each = Math.floor(left / names.length)
    const content = names.filter((name) => leases[name]!.want <= each)
    if (content.includes(process)) return leases[process]!.want
    if (content.length === 0)
      return each + (placeOf(leases, names, process, nowMs) < left % names.length ? 1 : 0)
    for (const name of content) left -= leases[name]!.want
    names = names.filter((name) => !content.includes(name))
  }
}

function placeOf(
  leases: Readonly<Record<string, Lease>>,
  names: string[],
  process: string,
  nowMs: number,
): number {
  const first = Math.floor(nowMs / turnMs) % names.length
  const turned = [...names.slice(first), ...names.slice(0, first)]
  const hot = turned.filter((name) => leases[name]!.hot)
  const rest = turned.filter((name) => !leases[name]!.hot)
  return [...hot, ...rest].indexOf(process)
}
