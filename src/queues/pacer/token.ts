/**
 * One token at a time, evenly spaced (GCRA with burst 1), under any number of counted windows.
 *
 * This is the hot path and exists twice: here for the simulation, and as Lua in token-script.ts for Redis.
 * `token.test.ts` runs both over the same seeded sequences. The learner (`state.ts`) decides how many requests may be
 * sent and owns `Pace`; the take owns `Meter`. Neither writes the other's fields, so a take never loses a race against
 * a report.
 *
 * All times are milliseconds on the clock of Redis.
 */
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { SlotLimit } from './flight/leases.ts'

export interface WindowPace {
  /** Stable as long as the window's phase is. A new phase starts a new count. */
  anchorMs: number
  lengthMs: number
  /** Requests permitted in every window except the one named by `capIndex`. */
  limit: number
  capIndex: number
  cap: number
}

export interface Pace {
  /** Time between two grants. */
  intervalMs: number
  /** No grant before this time, because of a block, a Retry-After or an exhausted window. */
  notBeforeMs: number
  /** When the learner wrote this. If the clock shows less, it was set back, and `notBeforeMs` is moved back with it. */
  setAtMs: number
  /** Counts blocks and their ends, so that a late answer is not taken for the answer to a trial. */
  epoch: number
  windows: readonly WindowPace[]
  /** A refusal closes the door: a schedule that is too late to be kept begins anew, and makes up for nothing. */
  beginsAnew?: true
  /** A limit on requests under way, when one is known. */
  flight?: SlotLimit
}

export interface Meter {
  lastAtMs: number
  /** Hot work was seen recently: until this time the background lane leaves it a share. */
  hotUntilMs: number
  /** A hot request waits for the next token: until this time the background lane yields. */
  hotClaimUntilMs: number
  used: Readonly<Record<string, number>>
}

export interface TokenSettings {
  /**
   * A token that is due within this time is granted now and used when it is due. For longer waits the caller asks
   * again. A process that takes blocks asks with `blockMs`.
   */
  horizonMs: number
  /** A caller may come this late for its token before the schedule moves on. */
  slackMs: number
  /** Share of the rate that the background lane leaves free while hot work is present. */
  hotShare: number
  /** Hot work counts as present this long after its last request. */
  hotPresenceMs: number
}

export interface TokenGrant {
  atMs: number
  lane: Lane
  epoch: number
  /**
   * True when the schedule was the bottleneck, and not the share that is left to hot work. Only then does a success say
   * anything about the limit.
   */
  busy: boolean
  /** The index of each window that contains the grant, and the grant's number in that window, from 1. */
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

/** At smaller intervals timers are too coarse to keep requests apart, and permits may be taken in blocks. */
export const fineMs = 3
/** The horizon of a process that takes blocks: one call for all that it uses in this time. */
export const blockMs = 50

/** A schedule that is late makes up for no more than so many grants: more would stand close together. */
export const mostLate = 1.5

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
  // A claim lasts for the slack beyond the token's time, so that it ends by itself when its process has died.
  if (hot > 0) {
    meter = {
      ...meter,
      hotClaimUntilMs: nextSlot(meter, pace, nowMs, 'hot', settings).atMs + settings.slackMs,
    }
  } else if (wanted.hot > 0) {
    meter = { ...meter, hotClaimUntilMs: 0 }
  }
  // A claim made during a block does not outlast the block.
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

/** No grant is further ahead than a block, unless the clock was set back since. */
function withinClock(meter: Meter, nowMs: number, settings: TokenSettings): Meter {
  return {
    ...meter,
    lastAtMs: Math.min(meter.lastAtMs, nowMs + Math.max(blockMs, settings.horizonMs)),
    hotUntilMs: Math.min(meter.hotUntilMs, nowMs + settings.hotPresenceMs),
  }
}

function nextSlot(meter: Meter, pace: Pace, nowMs: number, lane: Lane, settings: TokenSettings): TokenGrant {
  const hotPresent = meter.hotUntilMs > nowMs
  const spacing =
    lane === 'background' && hotPresent ? pace.intervalMs / (1 - settings.hotShare) : pace.intervalMs
  const due = meter.lastAtMs + spacing
  const slackMs = Math.min(settings.slackMs, mostLate * pace.intervalMs)
  // A grant that is spaced wider than the pace says nothing about the pace. If the pace climbed on it, hot requests
  // would be refused.
  const busy = due > nowMs - settings.slackMs && spacing === pace.intervalMs
  const notBeforeMs = pace.notBeforeMs - Math.max(0, pace.setAtMs - nowMs)
  const latestMs = pace.beginsAnew && due < nowMs - slackMs ? nowMs : nowMs - slackMs
  let atMs = Math.max(due, latestMs, notBeforeMs)
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

/** Only the current count of each window is kept. The first grant of the next window drops the others. */
function spend(meter: Meter, slot: TokenGrant): Meter {
  const used: Record<string, number> = {}
  for (const place of slot.places) used[usedKey(place, place.index)] = place.ordinal
  return { ...meter, lastAtMs: slot.atMs, used }
}

function usedKey(window: { anchorMs: number; lengthMs: number }, index: number): string {
  return `${window.lengthMs}:${window.anchorMs}:${index}`
}
