/** The learner's state between two reports, and the content of a report. Stored as JSON in Redis. */
import { onNewClock, unlimited, type Flight } from './flight/flight.ts'
import type { Checkpoint } from './history.ts'
import { noLooks, type Looks } from './level/look.ts'
import { calm, type Unrest } from './level/unrest.ts'
import type { Evidence } from './penalty/evidence.ts'
import { unknownWay, type Way } from './penalty/way.ts'
import type { WindowPlace } from './token.ts'
import type { WindowLayer } from './windows.ts'

export type Phase = 'learn' | 'blocked' | 'hold' | 'probe'

export interface Learner {
  phase: Phase
  epoch: number
  rate: number
  /** Successes since the last 429 while the rate was the bottleneck. */
  okRun: number
  grownAtMs: number
  /** From 0.1 to 1: how sure the rate is. An unsure one is probed sooner. A refusal where it was expected doubles the value. */
  sureness: number
  /** The rate at which the probe started; null when that rate was never certain. */
  probeFrom: number | null
  /** Since when the probe has held at twice that rate. */
  probeHeldSinceMs: number | null
  refusedRun: RefusedRun | null
  block: Block | null
  blockEndedMs: number
  /** A short block has just ended, and answers from before it still come: what was served shows the rate. */
  measuring: {
    fromMs: number
    toMs: number
    untilMs: number
    most: number
    growth: number
    part: number
  } | null
  penalty: Penalty | null
  suspicion: Suspicion | null
  notBeforeMs: number
  /** The limit on requests under way. */
  flight: Flight
  unrest: Unrest
  looks: Looks
  /** When the last refusal that told something was known. Refusals of requests that had their permits before it tell nothing more. */
  refusalKnownMs: number
  /** The refusals of the last seconds, oldest first, with the totals at that time. */
  refusals: { atMs: number; ok: number; limited: number }[]
  edge: Edge | null
  /** When refusals last measured the rate. Earlier ones do not measure it again. */
  correctedMs: number
  windows: WindowLayer[]
  /** Windows up to this length turned out to be sliding. Until then, the rate alone covers them. */
  sliding: { lengthMs: number; untilMs: number } | null
  history: Checkpoint[]
  /** The last `RateLimit-*` headers, valid until the reset. */
  headers: { resetAtMs: number; intervalMs: number; sentAtMs: number } | null
  /** The usual time from a permit to the request leaving. */
  preparedMs: number
  way: Way
  /** Target number of successes between two refusals. It is higher when each refusal costs a long Retry-After. */
  okPerRefusal: number
  lastAtMs: number
  totals: { ok: number; limited: number }
  recent: { ok: number; limited: number; sinceMs: number }
}

export interface Penalty {
  /** The door stays closed for so long. */
  lengthMs: number
  /** The last refusal, the rate at that time, and when requests were sent again after it. */
  refusedMs: number
  refusedRate: number
  resumedAtMs: number
  /** The limits by which each refusal is explained, the last one at the end. */
  evidence: readonly Evidence[]
  /** The rate climbs by this share a second, and not above the ceiling until that is tested, after so many penalties' time. */
  growth: number
  ceiling: number
  testAfter: number
  /** So many refusals in a row came soon after the door had opened. */
  early: number
  /** No lower rate is chosen. */
  leastRate: number
}

/** The last block, when it may have been a penalty. It lasted for `leastMs` to `lengthMs`. A second one of the same length tells. */
export interface Suspicion {
  lengthMs: number
  leastMs?: number
  sinceMs: number
  endedAtMs: number
  /** When that is known, and requests are sent again. */
  resumedAtMs: number
  evidence: readonly Evidence[]
  /** The share by which the rate climbs again each second. */
  growth?: number
  /** In place of that: what is sent each second is sent in one pulse. */
  pulses?: Pulses
}

/** The search for the limit behind a door that a refusal closes (`penalty/pulses.ts`). */
export interface Pulses {
  /** When the first pulse begins. */
  fromMs: number
  /** Its requests are so far apart. */
  intervalMs: number
  /** The pulse that was sent last, from 0. */
  index: number
  /** Its requests. */
  count: number
  /** Those of each pulse after it. */
  next: number
  /** Those of the second one at least: more than any window serves that explains the first refusal. */
  second: number
}

/** The place where the limit was met last: refusals in consecutive slots, or of one moment, are of one edge. Totals are those before it. */
export interface Edge {
  sentMs: number
  ok: number
  limited: number
  /** The rate had risen to it, or is still on its way down from there. */
  isAfterRise: boolean
}

export interface RefusedRun {
  count: number
  firstSentMs: number
  /** Refusals in consecutive slots, with no free slot in between. */
  adjacent: number
  /** The next slot after this one, pauses included. */
  followsUntilMs: number
}

export interface Block {
  sinceMs: number
  lastFailMs: number
  nextTrialMs: number
  trialGapMs: number
  /** The server said how long it lasts. */
  isAnnounced: boolean
  /** The place of the first refused request in each window. */
  places: readonly WindowPlace[]
}

export interface Outcome {
  /** When the outcome was known; `sentAtMs` is the time of the grant. */
  atMs: number
  sentAtMs: number
  /** The time of its permit, where it left later than that. */
  grantedAtMs?: number | undefined
  kind: 'ok' | 'limited'
  epoch: number
  busy: boolean
  /** When it was sent, where the caller has told. */
  leftMs?: number | undefined
  /** It waited for a slot: the rate was not the bottleneck. */
  isBound?: boolean | undefined
  /** It took the last slot. */
  isFull?: boolean | undefined
  places: readonly WindowPlace[]
  retryAfterMs?: number | undefined
  rateLimit?: { remaining: number; resetMs: number; limit?: number | undefined } | undefined
}

export interface LearnerSettings {
  initialPerSecond: number
  minPerSecond: number
  maxPerSecond: number
}

export const defaultLearnerSettings: LearnerSettings = {
  initialPerSecond: 5,
  minPerSecond: 1 / 600,
  maxPerSecond: 1000,
}

export const leastSureness = 0.1

/**
 * However long a server asks to wait, one request tries again after this time. A header can be wrong, and a limit can be
 * lifted: six tries an hour tell, where believing it would stop all lookups for a day in silence.
 */
export const trialAfterMs = 600_000
/** Reports of one moment may reach Redis in any order, but never this far apart. */
const clockJumpMs = 60_000
/** A longer time to the reset of a window is not believed. */
const longestResetMs = 86_400_000

/** Successes per refusal in `hold`. */
export const okPerRefusal = 320
/** The limit may have moved while nobody asked, so the rate starts a little below it. */
export const restedPart = 0.9

export function newLearner(settings: LearnerSettings): Learner {
  return {
    phase: 'learn',
    epoch: 0,
    rate: clampRate(settings.initialPerSecond, settings),
    okRun: 0,
    grownAtMs: 0,
    sureness: leastSureness,
    probeFrom: null,
    probeHeldSinceMs: null,
    refusedRun: null,
    block: null,
    blockEndedMs: 0,
    measuring: null,
    penalty: null,
    suspicion: null,
    notBeforeMs: 0,
    flight: unlimited,
    unrest: calm,
    looks: noLooks,
    refusalKnownMs: 0,
    refusals: [],
    correctedMs: 0,
    edge: null,
    windows: [],
    sliding: null,
    history: [],
    headers: null,
    preparedMs: 0,
    way: unknownWay,
    okPerRefusal,
    lastAtMs: 0,
    totals: { ok: 0, limited: 0 },
    recent: { ok: 0, limited: 0, sinceMs: 0 },
  }
}

/** Reads what was stored, perhaps by an older version: penalties without evidence and other pulses are learned again. */
export function readLearner(text: string, settings: LearnerSettings): Learner {
  const stored = JSON.parse(text) as Partial<Learner>
  const { penalty, suspicion } = stored
  const older = { early: 0, leastRate: 0 }
  return {
    ...newLearner(settings),
    ...stored,
    flight: { ...unlimited, ...stored.flight },
    unrest: { ...calm, ...stored.unrest },
    way: { ...unknownWay, ...stored.way },
    windows: (stored.windows ?? []).map((window) => ({ ...window, loweredAtMs: window.loweredAtMs ?? 0 })),
    penalty: penalty && 'evidence' in penalty ? { ...older, ...penalty } : null,
    suspicion: suspicion && isSuspicion(suspicion) ? suspicion : null,
  }
}

const isSuspicion = ({ evidence, pulses }: Suspicion) => evidence && (!pulses || 'intervalMs' in pulses)

/** Nothing is to be sent until then, on the clock of Redis. */
export function pausedUntilMs({ block, notBeforeMs }: Learner): number {
  return block ? block.nextTrialMs : notBeforeMs
}

export function clampRate(rate: number, settings: LearnerSettings): number {
  return Math.min(settings.maxPerSecond, Math.max(settings.minPerSecond, rate))
}

/** Returns the outcome with the times that the server has named, none of them longer than is believed. */
export function believable(outcome: Outcome): Outcome {
  const { retryAfterMs, rateLimit } = outcome
  const within = (mostMs: number, ms: number) => Math.min(mostMs, Math.max(0, ms))
  return {
    ...outcome,
    retryAfterMs: retryAfterMs === undefined ? undefined : within(trialAfterMs, retryAfterMs),
    rateLimit: rateLimit && { ...rateLimit, resetMs: within(longestResetMs, rateLimit.resetMs) },
  }
}

/** The clock of Redis was set back: times measured by it are forgotten, limits are not. */
export function onTime(learner: Learner, { atMs: nowMs }: Outcome): Learner {
  if (learner.lastAtMs - nowMs < clockJumpMs) return learner
  const block = learner.block && { ...learner.block, sinceMs: nowMs, lastFailMs: nowMs, nextTrialMs: nowMs }
  return {
    ...learner,
    block,
    blockEndedMs: 0,
    grownAtMs: nowMs,
    probeHeldSinceMs: null,
    refusedRun: null,
    notBeforeMs: 0,
    measuring: null,
    suspicion: null,
    penalty: learner.penalty && { ...learner.penalty, resumedAtMs: nowMs },
    refusalKnownMs: 0,
    refusals: [],
    edge: null,
    correctedMs: 0,
    unrest: { ...calm, level: learner.unrest.level, foundAtMs: nowMs, levelAtMs: nowMs },
    looks: noLooks,
    flight: onNewClock(learner.flight),
    sliding: learner.sliding && { ...learner.sliding, untilMs: nowMs + 20 * learner.sliding.lengthMs },
    history: [],
    headers: null,
    lastAtMs: nowMs,
    recent: { ...learner.recent, sinceMs: nowMs },
  }
}
