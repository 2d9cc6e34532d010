/**
 * The search for the limit behind a door that a refusal closes: all requests of a second are sent in one short pulse. A window of a
 * second has then counted exactly what its pulse was served, wherever it begins; even requests leave open how many of them were sent
 * since the window began.
 */
import type { Learner, Outcome, Pulses, Suspicion } from '../learner.ts'
import { fineMs, type WindowPace } from '../token.ts'
import { ofBucket, windowMs, windowsOf, type Evidence } from './evidence.ts'

/** The second pulse takes so long, and longer at high rates, since permits are no nearer than fine ones. */
const shortestMs = 200
/** The second pulse is so much more than any window serves that explains the ramp's refusal, and each one after it than the one before. */
const growth = 0.12
const fewest = 2
/** An evenly spaced limit is up to twice the window that explains the ramp's refusal, and is refused by pulses much sooner. */
const mostTimes = 2
/** Answers come in any order, and some not at all: a pulse was used up when one of its last requests was served. */
const usedPart = 0.8

/**
 * Returns pulses where no window that explains the refusal begins: in the middle of the longest stretch of a second that has none.
 * Requests leave so long after their permit as they are prepared. The first pulse is what a bucket serves that explains the refusal,
 * and leaves it nearly empty: it refuses the second pulse sooner than any window that has served the first. No pulse is less than
 * `least`.
 */
export function pulsesAfter(evidence: Evidence, afterMs: number, preparedMs: number, least: number): Pulses {
  const windows = windowsOf(evidence)
  const bucket = ofBucket(evidence)
  const { from, length } = longestStretch(windows.map((limit) => limit === 0))
  const second = Math.ceil(Math.max(fewest, least, bucket, (1 + growth) * Math.max(...windows)))
  const intervalMs = Math.max(fineMs, shortestMs / second)
  const first = Math.min(second, servedByBucket(bucket, intervalMs))
  const count = Math.ceil(Math.max(fewest, first, least))
  const middleMs = ((from + length / 2) * windowMs) / windows.length
  const placeMs = middleMs - (second * intervalMs) / 2 - preparedMs
  return {
    fromMs: afterMs + modulo(placeMs - afterMs, windowMs),
    intervalMs,
    index: 0,
    count,
    next: count,
    second,
  }
}

/** By a bucket that is full, and fills meanwhile. It may serve one less. */
function servedByBucket(perSecond: number, intervalMs: number): number {
  const filled = (perSecond * intervalMs) / 1_000
  return filled < 1 ? Math.floor(perSecond / (1 - filled)) : Infinity
}

/** Around the circle. */
function longestStretch(isFree: readonly boolean[]): { from: number; length: number } {
  const places = isFree.length
  const lengthFrom = (from: number) => {
    const taken = isFree.findIndex((_, offset) => !isFree[(from + offset) % places])
    return taken < 0 ? places : taken
  }
  return isFree
    .map((_, from) => ({ from, length: lengthFrom(from) }))
    .reduce((best, one) => (one.length > best.length ? one : best))
}

const modulo = (value: number, by: number) => ((value % by) + by) % by

/** The pulses that are sent now, while nothing else is known that sets the pace. */
export function pulsesOf({ suspicion, windows, sliding, headers }: Learner): Pulses | undefined {
  return windows.length === 0 && !sliding && !headers ? suspicion?.pulses : undefined
}

/**
 * A request was served, and what is known now sets the pulses to come: the next one grows when one was used up. A run that rests goes
 * on where it was, and one with little to ask for stays there.
 */
export function servedPulse(before: Pulses, { atMs, places }: Pick<Outcome, 'atMs' | 'places'>): Pulses {
  const index = Math.floor((atMs - before.fromMs) / windowMs)
  // The running pulse keeps its count: more permits now would leave after it.
  const pulses = index > before.index ? { ...before, index, count: before.next } : before
  const ordinal = places.find(({ anchorMs }) => anchorMs === pulses.fromMs)?.ordinal ?? 0
  if (ordinal < usedPart * pulses.count) return pulses
  return {
    ...pulses,
    next: Math.max(pulses.count + 1, pulses.second, Math.round(pulses.count * (1 + growth))),
  }
}

/** No refusal will end the search: no limit explains the first one, a pulse takes a second, or all is asked for that may be. */
export function isSearched({ count, next, second, intervalMs }: Pulses, mostPerSecond: number): boolean {
  const isLarge = next > mostTimes * second || next * intervalMs > windowMs
  return isLarge || (next > count && count >= Math.floor(mostPerSecond))
}

/**
 * A pulse is the count of a window that begins with it, and that of the next one is known before it begins. Its requests are no
 * nearer than permits that are taken one by one: taken in blocks, they would not be counted as they are used.
 */
export function pulsePace(pulses: Pulses): { intervalMs: number; windows: WindowPace[] } {
  const { fromMs, intervalMs, index, count, next } = pulses
  return {
    intervalMs,
    windows: [{ anchorMs: fromMs, lengthMs: windowMs, limit: next, capIndex: index, cap: count }],
  }
}

/** Requests a second, within a pulse. */
export function pulseRate(pulses: Pulses): number {
  return 1_000 / pulses.intervalMs
}

/** Without pulses where the bound is below the least one. */
export function withinBound(suspicion: Suspicion, mostPerSecond: number): Suspicion {
  const { pulses, ...rest } = suspicion
  const most = Math.floor(mostPerSecond)
  if (!pulses || most < fewest) return rest
  return {
    ...rest,
    pulses: { ...pulses, count: Math.min(pulses.count, most), next: Math.min(pulses.next, most) },
  }
}
