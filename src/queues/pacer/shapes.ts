/** Hidden limits of the kinds that services have beside counted windows, for the simulation. */
import type { HiddenLimit } from './simulation.ts'

/** Requests must be evenly spaced; `burst` extra ones may stand close together (nginx `limit_req`, GCRA). */
export function evenlySpaced(perSecond: number, burst: number): HiddenLimit {
  const gapMs = 1000 / perSecond
  let dueMs = -Infinity
  return (atMs) => {
    if (dueMs - atMs > burst * gapMs) return false
    dueMs = Math.max(dueMs, atMs) + gapMs
    return true
  }
}

/** A refusal closes the door: nothing is served for so long. A call on the closed door may begin the time again. */
export function withPenalty(inner: HiddenLimit, penaltyMs: number, { renewed = false } = {}): HiddenLimit {
  let closedUntilMs = -Infinity
  return (atMs) => {
    if (atMs < closedUntilMs) {
      if (renewed) closedUntilMs = atMs + penaltyMs
      return false
    }
    if (inner(atMs)) return true
    closedUntilMs = atMs + penaltyMs
    return false
  }
}

/** At most so many requests at once, whatever the pace: always, or as many as at that time. */
export function inFlight(most: number | ((atMs: number) => number)): HiddenLimit {
  let now = 0
  const mostAt = typeof most === 'number' ? () => most : most
  const admits: HiddenLimit = (atMs) => now < mostAt(atMs) && (now++, true)
  admits.left = () => void now--
  return admits
}

/** Rises and falls between two limits, each held for half of the period. */
export function breathing(high: number, low: number, periodMs: number): (atMs: number) => number {
  return (atMs) => (atMs % periodMs < periodMs / 2 ? high : low)
}

/** A neighbour takes a random part of the limit, another one after each `turnMs`. */
export function neighbour(
  random: () => number,
  { perSecond, most, turnMs }: { perSecond: number; most: number; turnMs: number },
): (atMs: number) => number {
  const shares: number[] = []
  return (atMs) => {
    const turn = Math.floor(atMs / turnMs)
    while (shares.length <= turn) shares.push(most * random())
    return perSecond * (1 - shares[turn]!)
  }
}
