/**
 * The search for the limit behind a door that a refusal closes: all requests of a second are sent in one short pulse, and each pulse has
 * more of them. A window of a second has then counted exactly what its pulse was served, wherever it begins, and a sliding one the
 * same; even requests leave open how many of them were sent since the window began.
 */
import type { Learner } from '../learner.ts'
import type { WindowPace } from '../token.ts'
import { windowMs, windowsOf, type Evidence } from './evidence.ts'

export interface Pulses {
  /** When the first pulse begins. */
  fromMs: number
  lengthMs: number
  /** The requests of the first pulse. */
  count: number
}

/** A longer pulse tells nothing of evenly spaced limits that the ramp has not told: both refuse where the same number is too many. */
const lengthMs = 200
/** The first pulse is a little less than the least window that explains the ramp's refusal. */
const firstPart = 0.95
const growth = 0.12
const fewest = 2
/** It is reached within seconds. More than the most that a pacer sends is never asked for. */
const mostCount = 1_000

/**
 * Returns pulses where no window that explains the refusal begins: in the middle of the longest stretch of a second that has none.
 * Requests leave so long after their permit as they are prepared.
 */
export function pulsesAfter(evidence: Evidence, afterMs: number, preparedMs: number): Pulses {
  const windows = windowsOf(evidence)
  const least = Math.min(...windows.filter((limit) => limit > 0))
  const { from, length } = longestStretch(windows.map((limit) => limit === 0))
  const middleMs = ((from + length / 2) * windowMs) / windows.length
  const placeMs = middleMs - lengthMs / 2 - preparedMs
  return {
    fromMs: afterMs + modulo(placeMs - afterMs, windowMs),
    lengthMs,
    count: least === Infinity ? fewest : Math.max(fewest, Math.ceil(firstPart * least)),
  }
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

/** The requests of the pulse in this second. */
export function pulseCount(pulses: Pulses, nowMs: number): number {
  return countOf(pulses, indexAt(pulses, nowMs))
}

/** Each pulse is the count of a window that begins with it, and the next one is known before it begins. */
export function pulsePace(pulses: Pulses, nowMs: number): { intervalMs: number; windows: WindowPace[] } {
  const index = indexAt(pulses, nowMs)
  const [cap, limit] = [countOf(pulses, index), countOf(pulses, index + 1)]
  const anchorMs = pulses.fromMs
  return {
    intervalMs: pulses.lengthMs / limit,
    windows: [{ anchorMs, lengthMs: windowMs, limit, capIndex: index, cap }],
  }
}

/** The rate within a pulse. */
export function pulseRate(pulses: Pulses, nowMs: number): number {
  return (1_000 * pulseCount(pulses, nowMs)) / pulses.lengthMs
}

function indexAt({ fromMs }: Pulses, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - fromMs) / windowMs))
}

function countOf({ count }: Pulses, index: number): number {
  let next = count
  for (let at = 0; at < index && next < mostCount; at++)
    next = Math.max(next + 1, Math.round(next * (1 + growth)))
  return Math.min(next, mostCount)
}
