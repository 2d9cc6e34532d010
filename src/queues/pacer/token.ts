/**
 * One token at a time, evenly spaced (GCRA with burst 1), under any number of counted windows.
 *
 * This is the hot path and exists twice: here for the simulation, and as Lua in token-script.ts for Redis. `token.test.ts` runs
 * both over the same seeded sequences. What may be asked of it is decided by the learner (`state.ts`), which owns `Pace`; the
 * take owns `Meter`. Neither writes the other's fields, so a take never loses against a report.
 *
 * All times are milliseconds on Redis's clock.
 */
import type { Lane } from '../../domain/ports/send-permit.ts'

export interface WindowPace {
  /** Stable while the window's phase is; a new phase starts a new count. */
  anchorMs: number
  lengthMs: number
  /** Requests permitted in every window but the one named by `capIndex`. */
  limit: number
  capIndex: number
  cap: number
}

export interface Pace {
  /** Distance between two grants. */
  intervalMs: number
  /** No grant before this time: a block, a Retry-After, a spent window. */
  notBeforeMs: number
  /** When the learner wrote this. A clock that shows less has been put back, and `notBeforeMs` goes back with it. */
  setAtMs: number
  /** Counts blocks and their ends, so that a late answer is not taken for the answer to a trial. */
  epoch: number
  windows: readonly WindowPace[]
}

export interface Meter {
  lastAtMs: number
  /** Hot work was seen; background leaves a share free until then. */
  hotUntilMs: number
  /** A hot request waits for the next token; background stands back until then. */
  hotClaimUntilMs: number
  used: Readonly<Record<string, number>>
}

export interface TokenSettings {
  /** A token due within this time is granted now, to be used when it falls due; longer waits are asked again. */
  horizonMs: number
  /** How late a caller may come for its token before the schedule moves on without it. */
  slackMs: number
  /** Part of the rate that background leaves free while hot work is present. */
  hotShare: number
  /** How long after its last request hot work counts as present. */
  hotPresenceMs: number
}

export interface TokenGrant {
  atMs: number
  lane: Lane
  epoch: number
  /** The schedule was the bottleneck, and not the share that is left to hot work: only then does a success say anything about the limit. */
  busy: boolean
  /** Index of each window that the grant falls in, and which request of that window it is, from 1. */
  places: readonly WindowPlace[]
}

export interface WindowPlace {
  anchorMs: number
  lengthMs: number
  index: number
  ordinal: number
}

export interface TokenAnswer {
  meter: Meter
  grants: readonly TokenGrant[]
  /** Time until the next token of each lane, from now. */
  hotWaitMs: number
  backgroundWaitMs: number
}

export const emptyMeter: Meter = { lastAtMs: 0, hotUntilMs: 0, hotClaimUntilMs: 0, used: {} }

export const defaultTokenSettings: TokenSettings = {
  horizonMs: 20,
  slackMs: 50,
  hotShare: 0.2,
  hotPresenceMs: 2000,
}

export function takeTokens(
  before: Meter,
  pace: Pace,
  nowMs: number,
  wanted: Record<Lane, number>,
  settings: TokenSettings,
): TokenAnswer {
  let meter = withinClock(before, nowMs, settings)
  const grants: TokenGrant[] = []
  let hot = wanted.hot
  let background = wanted.background
  if (hot > 0) meter = { ...meter, hotUntilMs: nowMs + settings.hotPresenceMs }
  while (hot > 0) {
    const slot = nextSlot(meter, pace, nowMs, 'hot', settings)
    if (slot.atMs > nowMs + settings.horizonMs) break
    meter = spend(meter, slot)
    grants.push(slot)
    hot--
  }
  // A claim outlives the token's time by the slack, so that it ends by itself when its process has died.
  if (hot > 0) {
    meter = {
      ...meter,
      hotClaimUntilMs: nextSlot(meter, pace, nowMs, 'hot', settings).atMs + settings.slackMs,
    }
  } else if (wanted.hot > 0) {
    meter = { ...meter, hotClaimUntilMs: 0 }
  }
  // What was claimed in a block does not outlast it.
  const claimMs = nextSlot(meter, pace, nowMs, 'hot', settings).atMs + settings.slackMs
  meter = { ...meter, hotClaimUntilMs: Math.min(meter.hotClaimUntilMs, claimMs) }
  while (background > 0) {
    const slot = nextSlot(meter, pace, nowMs, 'background', settings)
    if (slot.atMs > nowMs + settings.horizonMs) break
    meter = spend(meter, slot)
    grants.push(slot)
    background--
  }
  return {
    meter,
    grants,
    hotWaitMs: nextSlot(meter, pace, nowMs, 'hot', settings).atMs - nowMs,
    backgroundWaitMs: nextSlot(meter, pace, nowMs, 'background', settings).atMs - nowMs,
  }
}

/** No grant lies further ahead than the horizon, unless the clock was put back since. */
function withinClock(meter: Meter, nowMs: number, settings: TokenSettings): Meter {
  return {
    ...meter,
    lastAtMs: Math.min(meter.lastAtMs, nowMs + settings.horizonMs),
    hotUntilMs: Math.min(meter.hotUntilMs, nowMs + settings.hotPresenceMs),
  }
}

function nextSlot(meter: Meter, pace: Pace, nowMs: number, lane: Lane, settings: TokenSettings): TokenGrant {
  const hotPresent = meter.hotUntilMs > nowMs
  const spacing =
    lane === 'background' && hotPresent ? pace.intervalMs / (1 - settings.hotShare) : pace.intervalMs
  const due = meter.lastAtMs + spacing
  // What is spaced wider than the pace tells nothing of it: a pace that climbed on that would get the hot ones refused.
  const busy = due > nowMs - settings.slackMs && spacing === pace.intervalMs
  const notBeforeMs = pace.notBeforeMs - Math.max(0, pace.setAtMs - nowMs)
  let atMs = Math.max(due, nowMs - settings.slackMs, notBeforeMs)
  if (lane === 'background' && meter.hotClaimUntilMs > nowMs) atMs = Math.max(atMs, meter.hotClaimUntilMs)
  let places: WindowPlace[] = []
  for (let round = 0; round < 8; round++) {
    places = []
    let openAt = atMs
    for (const window of pace.windows) {
      const index = Math.floor((atMs - window.anchorMs) / window.lengthMs)
      const permitted = index === window.capIndex ? window.cap : window.limit
      const ordinal = (meter.used[usedKey(window, index)] ?? 0) + 1
      if (ordinal > permitted) openAt = Math.max(openAt, window.anchorMs + (index + 1) * window.lengthMs)
      places.push({ anchorMs: window.anchorMs, lengthMs: window.lengthMs, index, ordinal })
    }
    if (openAt === atMs) break
    atMs = openAt
  }
  return { atMs, lane, epoch: pace.epoch, busy, places }
}

/** Only the current count of each window is kept: the rest is dropped with the first grant of the next one. */
function spend(meter: Meter, slot: TokenGrant): Meter {
  const used: Record<string, number> = {}
  for (const place of slot.places) used[usedKey(place, place.index)] = place.ordinal
  return { ...meter, lastAtMs: slot.atMs, used }
}

function usedKey(window: { anchorMs: number; lengthMs: number }, index: number): string {
  return `${window.lengthMs}:${window.anchorMs}:${index}`
}
