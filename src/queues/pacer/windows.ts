/**
 * A window with a counted limit, known by its length and phase.
 *
 * The place of the first refused request in the window is the limit, exactly. The count is spent evenly and a little early, and
 * what is left of the window is quiet: it absorbs latency and an error of phase, and it is where one request too many asks
 * whether the limit has risen. Three granted beyond the limit say yes; then the count doubles until the next refusal.
 */
import type { WindowPace, WindowPlace } from './token.ts'

export interface WindowLayer {
  anchorMs: number
  lengthMs: number
  limit: number
  /** The last limit met by a refusal, or the first estimate. */
  base: number
  confirmed: boolean
  capIndex: number
  cap: number
  refusedIndex: number
  refused: number
  okSinceRefusal: number
}

/** Lengths in use out there; a block that lasts longer than one of them has another cause. */
export const candidateWindowMs = [
  5_000, 10_000, 15_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 86_400_000,
]

const risenBy = 2

export function windowIntervalMs(window: WindowLayer): number {
  return (window.lengthMs - quietMs(window)) / window.limit
}

function quietMs(window: WindowLayer): number {
  return Math.min(0.1 * window.lengthMs, 5_000 + 0.02 * window.lengthMs)
}

export function windowPaces(windows: readonly WindowLayer[]): WindowPace[] {
  return windows.map(({ anchorMs, lengthMs, limit, capIndex, cap }) => ({
    anchorMs,
    lengthMs,
    limit,
    capIndex,
    cap,
  }))
}

export function currentIndex(window: WindowLayer, atMs: number): number {
  return Math.floor((atMs - window.anchorMs) / window.lengthMs)
}

/** A grant made before the phase was found anew says nothing about this window. */
export function placeIn(window: WindowLayer, places: readonly WindowPlace[]): WindowPlace | undefined {
  return places.find((p) => p.lengthMs === window.lengthMs && p.anchorMs === window.anchorMs)
}

export function learnFromPlaces(
  window: WindowLayer,
  ok: { places: readonly WindowPlace[] },
  okPerRefusal: number,
): WindowLayer {
  const place = placeIn(window, ok.places)
  if (!place) return window
  const next = { ...window, okSinceRefusal: window.okSinceRefusal + 1 }
  const beyond = place.ordinal - window.limit
  if (!window.confirmed) return beyond >= 0 ? { ...next, limit: window.limit * 2 } : next
  if (beyond > risenBy)
    return { ...next, base: window.limit, limit: window.limit * 2, confirmed: false, capIndex: -1 }
  if (beyond > 0) {
    return place.index === window.capIndex && window.cap > 0
      ? { ...next, cap: Math.max(window.cap, window.limit + 2 * beyond + 1) }
      : next
  }
  const mayProbe = next.okSinceRefusal >= okPerRefusal && place.index > window.capIndex
  return mayProbe ? { ...next, capIndex: place.index, cap: window.limit + 1 } : next
}

/** Whether the refusal stands where the limit is expected, or higher. */
export function exhausted(window: WindowLayer, refusal: { places: readonly WindowPlace[] }): boolean {
  const place = placeIn(window, refusal.places)
  return place !== undefined && granted(window, place) >= 0.9 * window.base
}

/** Takes a refusal into the window's books; closes the window when it is spent. */
export function spentAt(
  window: WindowLayer,
  refusal: { places: readonly WindowPlace[] },
  trial = false,
): WindowLayer {
  const place = placeIn(window, refusal.places)
  if (!place) return window
  const refused = place.index === window.refusedIndex ? window.refused + 1 : 1
  const counted = { ...window, refusedIndex: place.index, refused, okSinceRefusal: 0 }
  if (trial || !exhausted(window, refusal)) return counted
  const limit = Math.max(1, granted(window, place))
  return { ...counted, limit, base: limit, confirmed: true, capIndex: place.index, cap: 0 }
}

function granted(window: WindowLayer, place: WindowPlace): number {
  return place.ordinal - 1 - (place.index === window.refusedIndex ? window.refused : 0)
}
