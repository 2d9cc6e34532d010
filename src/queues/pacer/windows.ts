/**
 * A window with a counted limit, known by its length and phase.
 *
 * The place of the first refused request in the window is exactly the limit. The count is spent evenly and a little
 * early. The rest of the window is quiet: it absorbs latency and an error of phase, and in it one extra request tests
 * whether the limit has risen. Three served beyond the limit confirm that; then the count doubles until the next
 * refusal.
 */
import type { WindowPace, WindowPlace } from './token.ts'

export interface WindowLayer {
  anchorMs: number
  lengthMs: number
  limit: number
  /** The last limit that a refusal confirmed, or the first estimate. */
  base: number
  confirmed: boolean
  /** When the first request beyond the limit was served; 0 when none was. */
  beyondAtMs: number
  capIndex: number
  cap: number
  refusedIndex: number
  refused: number
  okSinceRefusal: number
  /** Successes to wait for before the limit is tested again: few while it is unsure, more after each refused test. */
  probeAfterOks: number
  /** Number of blocks that ended within the window, where a fixed window serves nothing. */
  contradictions: number
  /** The number of times in a row that the limit was lowered. More than once means that this is part of a longer window. */
  lowered: number
  /** End of the block that lowered the limit last; 0 when none did. */
  loweredAtMs: number
}

/**
 * Common window lengths. A block that lasts longer than one of them has another cause. A limit with another length does
 * not fit, and the rate alone covers it.
 */
export const candidateWindowMs = [10_000, 60_000, 300_000, 900_000, 3_600_000, 86_400_000]

const risenBy = 2

export function newWindow(anchorMs: number, lengthMs: number, limit: number): WindowLayer {
  return {
    anchorMs,
    lengthMs,
    limit,
    base: limit,
    confirmed: false,
    beyondAtMs: 0,
    capIndex: -1,
    cap: 0,
    refusedIndex: -1,
    refused: 0,
    okSinceRefusal: 0,
    probeAfterOks: 1,
    contradictions: 0,
    lowered: 0,
    loweredAtMs: 0,
  }
}

export function windowIntervalMs(window: WindowLayer): number {
  // A window that is about to be tested runs a little faster, so that three more requests fit in before its end.
  const tried = window.cap > window.limit ? risenBy + 2 : 0
  return (window.lengthMs - quietMs(window)) / (window.limit + tried)
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

/** A grant made before the phase was found again says nothing about this window. */
export function placeIn(window: WindowLayer, places: readonly WindowPlace[]): WindowPlace | undefined {
  return places.find((p) => p.lengthMs === window.lengthMs && p.anchorMs === window.anchorMs)
}

export function learnFromPlaces(
  window: WindowLayer,
  ok: { sentAtMs: number; places: readonly WindowPlace[] },
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
    if (place.index !== window.capIndex || window.cap === 0) return next
    const beyondAtMs = beyond === 1 ? ok.sentAtMs : window.beyondAtMs
    return { ...next, beyondAtMs, cap: Math.max(window.cap, window.limit + 2 * beyond + 1) }
  }
  const mayProbe =
    next.okSinceRefusal >= Math.min(oksUntilTest(window.limit, okPerRefusal), window.probeAfterOks) &&
    place.index > window.capIndex
  return mayProbe ? { ...next, capIndex: place.index, cap: window.limit + 1 } : next
}

/**
 * A test is made at the end of a window, so the refusals that are aimed for are one in so many whole windows: two windows of 150
 * where one in 320 is aimed for, not three. The half is less than the last of them serves, and more than is missing in it.
 */
function oksUntilTest(limit: number, okPerRefusal: number): number {
  const windows = okPerRefusal / limit
  return windows <= 1 ? okPerRefusal : (Math.max(2, Math.round(windows)) - 0.5) * limit
}

/** Returns whether the refused request was at the expected limit or beyond it. */
export function exhausted(window: WindowLayer, refusal: { places: readonly WindowPlace[] }): boolean {
  const place = placeIn(window, refusal.places)
  return place !== undefined && granted(window, place) >= 0.9 * window.base
}

/** Counts a refusal in the window, and closes the window when it is exhausted. */
export function spentAt(
  window: WindowLayer,
  refusal: { sentAtMs: number; places: readonly WindowPlace[] },
  otherCause = false,
): WindowLayer {
  const place = placeIn(window, refusal.places)
  if (!place) return window
  const refused = place.index === window.refusedIndex ? window.refused + 1 : 1
  const counted = { ...window, refusedIndex: place.index, refused }
  if (otherCause || !exhausted(window, refusal)) return counted
  const limit = Math.max(1, granted(window, place))
  if (!window.confirmed && window.beyondAtMs > 0 && limit <= window.base + risenBy) {
    return withPhase(
      { ...counted, limit: window.base, confirmed: true, okSinceRefusal: 0 },
      window.beyondAtMs,
      refusal.sentAtMs,
    )
  }
  const sure = window.confirmed && limit >= 0.9 * window.limit
  return {
    ...counted,
    limit,
    base: limit,
    confirmed: true,
    beyondAtMs: 0,
    okSinceRefusal: 0,
    probeAfterOks: sure ? 2 * Math.max(limit, window.probeAfterOks) : limit,
    contradictions: 0,
    lowered: sure ? 0 : window.lowered,
    capIndex: place.index,
    cap: 0,
  }
}

/**
 * The limit had not risen after all: the requests served beyond it already belonged to the next window, which begins
 * there or earlier. The window that was just exhausted began with it.
 */
function withPhase(window: WindowLayer, anchorMs: number, spentAtMs: number): WindowLayer {
  const moved = { ...window, anchorMs, beyondAtMs: 0, cap: 0 }
  return { ...moved, capIndex: currentIndex(moved, spentAtMs) }
}

function granted(window: WindowLayer, place: WindowPlace): number {
  return place.ordinal - 1 - (place.index === window.refusedIndex ? window.refused : 0)
}
