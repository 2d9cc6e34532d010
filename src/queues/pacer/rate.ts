/** The limit as a rate: the ramp, the climb, and the effect of a refusal. */
import {
  clampRate,
  leastSureness,
  type Learner,
  type LearnerSettings,
  type Outcome,
  type RefusedRun,
} from './learner.ts'
import { isOfSeconds, lowRate, meetEdge, nextEdge, surenessAfterEdge } from './edge.ts'
import { countBetween } from './history.ts'
import { climbRestlessly, rateAfterRestlessRefusal } from './level/restless.ts'
import { isRestless, noteHeld, noteLevel, type Unrest } from './level/unrest.ts'
import { windowIntervalMs } from './windows.ts'

/** A refusal lowers the rate by this share; `okPerRefusal` successes raise it by the same share. */
export const cutPerRefusal = 0.004
/** After this many times the expected run without a refusal, the climb doubles its speed repeatedly. */
const probeAfterRuns = 2
const probeDoubleOks = 60
/** A window of a second refuses only at its end: none is faster. An unsure rate may be far below, and climbs sooner. */
const probeSeconds = { after: 5, double: 3 }
const unsureSeconds = { after: 3, double: 1.5 }
const probeHeldMs = { ofSeconds: 10_000, ofMinutes: 60_000 }
const keptOfProbe = 0.25
const runOfRefusals = 5
/** So many refusals in so many requests, and such a share of them, measure a rate that is too high. */
const refusalsToMeasure = 3
const requestsToMeasure = 20
const measuredMs = 1000
const farAbove = 0.1
const unsure = 0.3
/** An unsure rate climbs faster, by so much at most. */
const leastSure = 0.4
/** A known level is within so much of what was measured. Where refused calls count, the pauses after them hide a part of it. */
const belowServed = 0.9
const aboveAsked = 1.2
const keptMs = 4_000
const mostRefusals = 40
const levelMs = 3_000
const lateMs = 500
const runSpanMs = 200
/** A limit that changes has fallen far where it refuses: so many times the pause. Where the rate is above it, that loses nothing. */
const restlessPause = 2
/** The rate doubles in this time while nothing is known about the limit. */
export const doublingMs = 500

/** Doubles the rate for every half second of use. Answers that arrive together count only for the time that has passed. */
export function ramp(learner: Learner, ok: Outcome): Learner {
  const passedMs = Math.min(Math.max(0, ok.atMs - learner.grownAtMs), 250)
  return {
    ...learner,
    rate: learner.rate * 2 ** (passedMs / doublingMs),
    grownAtMs: Math.max(ok.atMs, learner.grownAtMs),
  }
}

export function climb(learner: Learner, ok: Outcome, settings: LearnerSettings): Learner {
  if (!learner.sliding && isRestless(learner.unrest, ok.atMs)) return climbRestlessly(learner, settings)
  const { growth = 0 } = (isOfSeconds(learner) && learner.suspicion) || {}
  if (growth > 0)
    return { ...learner, rate: clampRate(learner.rate * (1 + growth / Math.max(1, learner.rate)), settings) }
  const okRun = learner.okRun + 1
  const climbed = clampRate(learner.rate * (1 + climbStep(okRun, learner)), settings)
  if (okRun <= probeAfter(learner)) {
    return { ...learner, okRun, phase: 'hold', rate: climbed, probeFrom: climbed, probeHeldSinceMs: null }
  }
  const hasHeld = learner.phase === 'hold' && isOfSeconds(learner)
  const unrest = hasHeld ? noteHeld(learner.unrest, learner.rate, ok.atMs) : learner.unrest
  return withinProbe({ ...learner, okRun, phase: 'probe', unrest }, climbed, ok)
}

/**
 * A bucket or a sliding window refuses only after it has been overdrawn for a while, so a probe pauses that long at
 * twice its starting rate. A probe after a block has no starting rate, and nothing pauses it.
 */
function withinProbe(learner: Learner, climbed: number, ok: Outcome): Learner {
  const { probeFrom, probeHeldSinceMs } = learner
  if (probeFrom === null || climbed < 2 * probeFrom) return { ...learner, rate: climbed }
  const heldMs = isOfSeconds(learner)
    ? probeHeldMs.ofSeconds
    : Math.max(probeHeldMs.ofMinutes, slidingMs(learner))
  if (probeHeldSinceMs !== null && ok.atMs - probeHeldSinceMs > heldMs) {
    return { ...learner, okRun: probeAfter(learner), probeFrom: 2 * probeFrom, probeHeldSinceMs: null }
  }
  return { ...learner, rate: 2 * probeFrom, probeHeldSinceMs: probeHeldSinceMs ?? ok.atMs }
}

const leastSeconds = ({ sureness }: Learner) => (sureness > leastSureness ? probeSeconds : unsureSeconds)
function probeAfter(learner: Learner): number {
  const seconds = Math.max(leastSeconds(learner).after, (2 * slidingMs(learner)) / 1000)
  return Math.max(probeAfterRuns * learner.okPerRefusal * learner.sureness, seconds * learner.rate)
}

function probeDouble(learner: Learner): number {
  const seconds = Math.max(leastSeconds(learner).double, slidingMs(learner) / 5000)
  return Math.max(probeDoubleOks * learner.sureness, seconds * learner.rate)
}

/** A sliding window counts everything that was sent within its length. */
function slidingMs(learner: Learner): number {
  return learner.sliding?.lengthMs ?? 0
}

/** Never faster than doubling every second. */
function climbStep(okRun: number, learner: Learner): number {
  const sureness = isOfSeconds(learner) ? Math.max(leastSure, learner.sureness) : 1
  const base = cutPerRefusal / (learner.okPerRefusal * sureness)
  const beyond = Math.max(0, okRun - probeAfter(learner))
  return Math.min(base * 2 ** (beyond / probeDouble(learner)), Math.LN2 / Math.max(1, learner.rate))
}

/**
 * One refusal lowers the rate a little. When many have come within a second or so, the limit is measured: it is what was served,
 * or as much more as was refused, where refused calls count. The rate is unsure again unless that is the level known.
 */
export function afterRefusal(
  learner: Learner,
  { atMs, sentAtMs }: Outcome,
  settings: LearnerSettings,
): Pick<Learner, 'rate' | 'refusals' | 'sureness' | 'correctedMs' | 'edge'> & { isMeasured: boolean } {
  const { totals, correctedMs } = learner
  const next = nextEdge(learner, sentAtMs)
  const edge = next ?? learner.edge
  const last = { atMs, ...totals }
  const refusals = [...learner.refusals.slice(1 - mostRefusals), last].filter(
    (r) => atMs - r.atMs < keptMs || last.limited - r.limited < refusalsToMeasure,
  )
  const first = refusals.findLast(
    (r) =>
      r.atMs > correctedMs &&
      atMs - r.atMs >= measuredMs &&
      last.limited - r.limited >= refusalsToMeasure - 1 &&
      last.ok + last.limited - r.ok - r.limited >= requestsToMeasure,
  )
  const seconds = first ? (atMs - first.atMs) / 1000 : 1
  const served = first ? (totals.ok - first.ok) / seconds : 0
  const refused = first ? (totals.limited - first.limited) / seconds : 0
  if (!first || learner.sliding || refused < farAbove * (served + refused)) {
    const { rate, sureness } = meetEdge(learner, rateAfterRefusal(learner), sentAtMs, next)
    return { rate: clampRate(rate, settings), refusals, sureness, isMeasured: false, correctedMs, edge }
  }
  const { level } = learner.unrest
  const isSame = level > belowServed * served && level < aboveAsked * (served + refused)
  const measured = isSame ? 0.97 * level : Math.max(served, learner.rate / 2)
  return {
    rate: clampRate(Math.min(0.99 * learner.rate, measured), settings),
    refusals,
    correctedMs: atMs,
    edge,
    sureness: isSame ? surenessAfterEdge(learner, sentAtMs) : unsure,
    isMeasured: true,
  }
}

/**
 * Notes the limit as refusals of late show it: between what was served and what was asked, where the rate was in use. Answers of
 * the last moments are still under way.
 */
export function afterEdge(learner: Learner, rate: number, atMs: number): Unrest {
  const seconds = levelMs / 1000
  const [fromMs, toMs] = [atMs - lateMs - levelMs, atMs - lateMs]
  const served = countBetween(learner.history, fromMs, toMs) / seconds
  const refused = learner.refusals.filter((r) => r.atMs > fromMs && r.atMs <= toMs).length / seconds
  const isOfUse = served > 0 && served >= 0.5 * rate
  // Less than the limit is served while the rate rises.
  const isDoubling = learner.probeFrom === null || isRestless(learner.unrest, atMs)
  const isRising = learner.phase === 'probe' && isDoubling
  if (!isOfUse) return learner.unrest
  return noteLevel(learner.unrest, [served, served + refused], rate, atMs, isRising)
}

/** A bucket refuses a probe late, once it is empty, so only part of a climb by a few percent is kept. */
export function rateAfterRefusal(learner: Learner): number {
  const { rate, probeFrom, phase } = learner
  if (!learner.sliding && isRestless(learner.unrest, learner.lastAtMs))
    return rateAfterRestlessRefusal(learner)
  const cut = rate * (1 - cutPerRefusal)
  if (phase !== 'probe') return cut
  if (probeFrom !== null && rate < 1.25 * probeFrom) {
    return Math.min(cut, probeFrom ** (1 - keptOfProbe) * rate ** keptOfProbe)
  }
  // At a low rate a refusal weighs more than what is lost by falling back to the rate of a second ago.
  const lost = probeFrom === null && rate < lowRate ? 1 : 0.5
  return cut / (1 + climbStep(learner.okRun, learner) * rate * lost)
}

export function extendRun(learner: Learner, refusal: Outcome): RefusedRun {
  const before = learner.refusedRun
  const adjacent = before && refusal.sentAtMs <= before.followsUntilMs ? before.adjacent + 1 : 1
  const run = {
    count: (before?.count ?? 0) + 1,
    firstSentMs: Math.min(before?.firstSentMs ?? Infinity, refusal.sentAtMs),
    adjacent,
  }
  const intervalMs = 1000 / learner.rate
  const followsUntilMs = Math.max(refusal.sentAtMs, pauseAfter(run, learner, refusal)) + 1.6 * intervalMs
  return { ...run, followsUntilMs: Math.max(before?.followsUntilMs ?? 0, followsUntilMs) }
}

/**
 * A single refusal is a normal answer. A second one in the next slot means that the limit is in debt (a bucket that
 * counts refused calls, or the tail of a window), and only empty slots pay that debt back.
 */
export function pauseAfter(run: { adjacent: number }, learner: Learner, refusal: Outcome): number {
  const times = isRestless(learner.unrest, refusal.atMs) ? restlessPause : 1
  return refusal.atMs + (times * run.adjacent * 1000) / learner.rate
}

export function rateBinds(learner: Learner): boolean {
  return learner.windows.every((w) => windowIntervalMs(w) <= 1000 / learner.rate)
}

/** A run of refusals that lasts, with no success in between, is more than the edge of the limit. */
export function isBlock(run: RefusedRun, refusal: Outcome): boolean {
  return run.count >= runOfRefusals && refusal.sentAtMs - run.firstSentMs >= runSpanMs
}

/**
 * A rate that was measured quickly: it climbs from there by this share per second, and faster, until the next refusal.
 */
export function withMeasuredRate(learner: Learner, rate: number, growthPerSecond: number): Learner {
  const measured = { ...learner, rate }
  const hurry = Math.log2(Math.max(1, (growthPerSecond / rate) * (learner.okPerRefusal / cutPerRefusal)))
  const okRun = Math.floor(probeAfter(measured) + probeDouble(measured) * hurry)
  return {
    ...measured,
    okRun,
    phase: 'probe',
    probeFrom: null,
    probeHeldSinceMs: null,
    sureness: leastSureness,
  }
}
