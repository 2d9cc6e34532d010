/**
 * The pacer's knowledge of a limit that no server states, as a pure function of the outcomes.
 *
 *           first 429              success returns               no 429 for long
 *   learn ─────────────▶ blocked ───────────────────▶ hold ───────────────────────▶ probe
 *   rate doubles         single     soon: the rate    down a little    ◀──────────  climbs ever faster,
 *   twice a sec.         trials     is measured       with a 429, up      a 429     by twice at a time
 *                           ▲       late: a window    a little with
 *                           │       is known          each success
 *                           └──────── a run of 429s ──────┘
 *
 * The pacer tracks two kinds of limit at once, and the slower one sets the pace:
 *
 * - The *rate* (windows of a second or so, sliding windows, token buckets). In `hold` it converges to the rate at which
 *   one request in `okPerRefusal` is refused. That refusal is the only way to know that the limit is unchanged.
 *   Successes teach only while the pacer was the bottleneck.
 * - Counted *windows* (`windows.ts`): ten seconds, a minute, an hour. Their count is exact after one refusal, is spent
 *   evenly, and is tested with one extra request at the end of a window.
 *
 * The length of a block tells which of the two was hit (`block.ts`). Answers come late and out of order, from many
 * processes: a grant carries its time, its epoch and its place in each window, and nothing here depends on the order of
 * reports.
 *
 * Times are milliseconds on the clock of Redis; rates are requests per second.
 */
import { endBlock, failTrial, measureAgain, shortBlockMs, startBlock } from './block.ts'
import { learnFlight } from './flight/limit.ts'
import { addSuccess } from './history.ts'
import {
  believable,
  clampRate,
  leastSureness,
  okPerRefusal,
  onTime,
  pausedUntilMs,
  restedPart,
  trialAfterMs,
  type Learner,
  type LearnerSettings,
  type Outcome,
} from './learner.ts'
import { noLooks } from './level/look.ts'
import { endLook, isLooking, isOfLook, lookAfterOk } from './level/looks.ts'
import { noteRise } from './level/restless.ts'
import { calm, isRestless, noteBurst } from './level/unrest.ts'
import { pulsePace, pulsesOf, withinBound } from './penalty/pulses.ts'
import { climbByPulses, climbUnderPenalty, penalise, penaliseAgain } from './penalty/penalty.ts'
import {
  climb,
  extendRun,
  isBlock,
  pauseAfter,
  ramp,
  afterEdge,
  afterRefusal,
  rateAfterRefusal,
  rateBinds,
  withMeasuredRate,
} from './rate.ts'
import type { Pace, WindowPace } from './token.ts'
import { exhausted, learnFromPlaces, spentAt, windowIntervalMs, windowPaces } from './windows.ts'

const restMs = 600_000
/** The usual time from a permit to its request leaving is a mean of the last ten or so. */
const preparedPart = 0.1
/** A rate that has risen to so many times what it was has many more under way. */
const farRisen = 1.9

export function learn(before: Learner, reported: Outcome, settings: LearnerSettings): Learner {
  const outcome = believable(reported)
  const learner = withFlight(count(rested(onTime(before, outcome), outcome), outcome), outcome)
  const taught =
    outcome.kind === 'ok'
      ? learnFromOk(learner, outcome, settings)
      : isOfSlots(learner, outcome)
        ? honourRetryAfter(learner, outcome)
        : learnFromRefusal(learner, outcome, settings)
  const known = outcome.rateLimit ? learnFromHeaders(taught, outcome, outcome.rateLimit, settings) : taught
  return {
    ...known,
    rate: clampRate(known.rate, settings),
    suspicion: known.suspicion && withinBound(known.suspicion, settings.maxPerSecond),
    lastAtMs: Math.max(known.lastAtMs, outcome.atMs),
  }
}

/** When a limit on requests under way is found, what its refusals seemed to tell about the rate is forgotten. */
function withFlight(learner: Learner, outcome: Outcome): Learner {
  // While the rate doubles or looks, and in a pulse, the refused requests have the most beside them under any limit.
  const isPulse = pulsesOf(learner) !== undefined && learner.flight.limit === 0
  if (learner.phase === 'learn' || isPulse || isOfLook(learner, outcome)) return learner
  const { sentAtMs, leftMs = sentAtMs, atMs, isFull } = outcome
  const flight = learnFlight(learner.flight, {
    sentMs: leftMs,
    atMs,
    isServed: outcome.kind === 'ok',
    pausesMs: outcome.retryAfterMs,
    isFull,
    isRestless: isRestless(learner.unrest, outcome.atMs) || hasRisen(learner),
  })
  const next = { ...learner, flight }
  return flight.limit > 0 && flight.foundMs !== learner.flight.foundMs ? freeRate(next) : next
}

/** Requests that were served before the rate rose had fewer beside them, under any limit: their counts begin anew. */
function hasRisen({ phase, rate, probeFrom }: Learner): boolean {
  return phase === 'probe' && probeFrom !== null && rate > farRisen * probeFrom
}

/** The refusals had another cause than the rate: it doubles every second until it is refused. */
function freeRate(learner: Learner): Learner {
  return {
    ...withMeasuredRate(learner, learner.rate, 1),
    block: null,
    epoch: learner.block ? learner.epoch + 1 : learner.epoch,
    measuring: null,
    penalty: null,
    suspicion: null,
    refusedRun: null,
    refusals: [],
    edge: null,
    unrest: calm,
    looks: noLooks,
    notBeforeMs: 0,
  }
}

/** The last slot was refused: that is the limit on requests under way, and not the rate. */
function isOfSlots({ block, flight }: Learner, refusal: Outcome): boolean {
  return refusal.isFull === true && flight.limit > 0 && !block
}

export function paceOf(learner: Learner, nowMs: number): Pace {
  const { block, epoch } = learner
  const { limit, test } = learner.flight
  const notBeforeMs = pausedUntilMs(learner)
  const common = { epoch, setAtMs: nowMs, notBeforeMs, ...(limit > 0 && { flight: { limit, test } }) }
  if (block) {
    // Requests are counted during a block too, but the counts hold nothing back: the trials find the end.
    const windows = windowPaces(learner.windows).map((w): WindowPace => ({ ...w, limit: 1e9, capIndex: -1 }))
    return { ...common, intervalMs: block.trialGapMs, windows }
  }
  const pulses = pulsesOf(learner)
  if (pulses) return { ...common, notBeforeMs: Math.max(notBeforeMs, pulses.fromMs), ...pulsePace(pulses) }
  return {
    ...common,
    intervalMs: intervalMs(learner, nowMs),
    windows: windowPaces(learner.windows),
    ...(learner.penalty && { beginsAnew: true as const }),
  }
}

function intervalMs(learner: Learner, nowMs: number): number {
  const learned = Math.max(1000 / learner.rate, ...learner.windows.map(windowIntervalMs))
  const announced = learner.headers && learner.headers.resetAtMs > nowMs ? learner.headers.intervalMs : null
  return announced ?? learned
}

/** While a refusal may be one that closes a door, what was served before it is noted exactly: that explains it. */
function mayBeExplained({ phase, block, blockEndedMs, suspicion, penalty }: Learner): boolean {
  const isRamp = phase === 'learn' || (block !== null && blockEndedMs === 0)
  return isRamp || suspicion !== null || penalty !== null
}

function learnFromOk(before: Learner, ok: Outcome, settings: LearnerSettings): Learner {
  const { sentAtMs, grantedAtMs = sentAtMs } = ok
  const preparedMs = before.preparedMs + preparedPart * (sentAtMs - grantedAtMs - before.preparedMs)
  const history = addSuccess(before.history, sentAtMs, { isFine: mayBeExplained(before) })
  const learner = { ...before, preparedMs, history }
  if (learner.block) {
    return ok.epoch === learner.epoch ? endBlock(learner, learner.block, ok) : learner
  }
  if (ok.epoch < learner.epoch) {
    return learner.penalty ? penaliseAgain(learner, learner.penalty, ok) : measureAgain(learner, ok)
  }
  if (learner.refusedRun && ok.sentAtMs > learner.refusedRun.firstSentMs) learner.refusedRun = null
  learner.windows = learner.windows.map((w) => learnFromPlaces(w, ok, learner.okPerRefusal))
  const pulses = pulsesOf(learner)
  if (pulses) return climbByPulses(learner, pulses, ok, settings.maxPerSecond)
  if (!ok.busy || ok.isBound || !rateBinds(learner)) return learner
  if (learner.penalty) return climbUnderPenalty(learner, learner.penalty, ok)
  if (learner.phase === 'learn') return ramp(learner, ok)
  const looked = lookAfterOk(learner, ok)
  return isLooking(looked) ? looked : climb(looked, ok, settings)
}

function learnFromRefusal(learner: Learner, refusal: Outcome, settings: LearnerSettings): Learner {
  if (learner.block) {
    return refusal.epoch === learner.epoch ? failTrial(learner, learner.block, refusal) : learner
  }
  if (refusal.epoch < learner.epoch) return learner
  if (learner.penalty) return penalise(learner, learner.penalty, refusal)
  const binds = rateBinds(learner)
  // The shortest window that explains the refusal. If a longer one were exhausted, the refusals would continue past the
  // end of this one. A guess is not made sure by a refusal that the rate explains.
  const spent = learner.windows.find((w) => (w.confirmed || !binds) && exhausted(w, refusal))
  const windows = learner.windows.map((w) => spentAt(w, refusal, w !== spent))
  if (spent) {
    return honourRetryAfter({ ...learner, windows, okRun: 0 }, refusal)
  }
  const run = extendRun(learner, refusal)
  const notBeforeMs = Math.max(learner.notBeforeMs, pauseAfter(run, learner, refusal))
  const mustWaitLong = (refusal.retryAfterMs ?? 0) > shortBlockMs
  // Many requests of a look may be refused: they are no run that the next refusal belongs to.
  if (isOfLook(learner, refusal) && !mustWaitLong)
    return honourRetryAfter(endLook({ ...learner, windows, notBeforeMs }, refusal), refusal)
  const next = { ...learner, windows, refusedRun: run, notBeforeMs }
  const isDecisive = learner.phase === 'learn' || learner.suspicion !== null
  if (isDecisive || isBlock(run, refusal) || !binds || mustWaitLong) {
    return startBlock(next, refusal, run.firstSentMs)
  }
  // Several requests under way at once find the same edge. Each lowers the rate, and they are one piece of news.
  // A request that had its permit before the last refusal was known could not heed that refusal.
  const { sentAtMs, grantedAtMs = sentAtMs } = refusal
  const isNews = grantedAtMs > learner.refusalKnownMs
  const lowered = isNews
    ? afterRefusal({ ...learner, refusedRun: run }, refusal, settings)
    : { rate: clampRate(rateAfterRefusal(learner), settings), isMeasured: false }
  const edged = isNews ? afterEdge(learner, lowered.rate, refusal.atMs) : learner.unrest
  // Else refusals that each had their permits before the one before was known would be no news for ever.
  const refusalKnownMs = isNews ? refusal.atMs : learner.refusalKnownMs
  const { isMeasured, ...changed } = lowered
  // Unrest has ended with the level unknown: it is searched for as it was at first.
  if (edged.level === 0 && learner.unrest.level > 0 && 'sureness' in changed) changed.sureness = leastSureness
  const risen = isNews && isRestless(learner.unrest, refusal.atMs) ? noteRise(edged, learner) : edged
  const unrest = isMeasured ? noteBurst(risen, lowered.rate, refusal.atMs) : risen
  return honourRetryAfter({ ...next, ...changed, unrest, refusalKnownMs, okRun: 0, phase: 'hold' }, refusal)
}

/**
 * A pause of R seconds costs R × rate requests, so refusals are aimed for a hundred times more rarely than that. Rises every few
 * seconds, as a limit that changes has them, would cost more than they find.
 */
function honourRetryAfter(learner: Learner, refusal: Outcome): Learner {
  if (refusal.retryAfterMs === undefined) return learner
  const wanted = (100 * refusal.retryAfterMs * learner.rate) / 1000
  const isDear = wanted > okPerRefusal
  return {
    ...learner,
    notBeforeMs: Math.max(learner.notBeforeMs, refusal.atMs + refusal.retryAfterMs),
    okPerRefusal: Math.max(okPerRefusal, wanted),
    unrest: isDear ? { ...learner.unrest, changes: 0 } : learner.unrest,
  }
}

/**
 * The server's own figure replaces the learned one: the remaining requests are spread until the reset, less those sent
 * since the answer's own request. An answer that is older than the last one used is ignored.
 */
function learnFromHeaders(
  learner: Learner,
  outcome: Outcome,
  limit: NonNullable<Outcome['rateLimit']>,
  settings: LearnerSettings,
): Learner {
  if (limit.resetMs <= 0 || outcome.sentAtMs < (learner.headers?.sentAtMs ?? 0)) return learner
  const resetAtMs = outcome.atMs + limit.resetMs
  const underWay = (outcome.atMs - outcome.sentAtMs) / intervalMs(learner, outcome.atMs)
  const remaining = limit.remaining - underWay
  if (remaining < 1) {
    const trialAtMs = Math.min(resetAtMs, outcome.atMs + trialAfterMs)
    const notBeforeMs = limit.remaining < 1 ? trialAtMs : learner.notBeforeMs
    return { ...learner, notBeforeMs: Math.max(learner.notBeforeMs, notBeforeMs) }
  }
  const rate = clampRate((1000 * remaining) / limit.resetMs, settings)
  const headers = { resetAtMs, intervalMs: 1000 / rate, sentAtMs: outcome.sentAtMs }
  // The value also becomes the rate, for the time after the reset until the first answer of the next window.
  return { ...learner, headers, rate, phase: learner.block ? learner.phase : 'hold' }
}

function count(learner: Learner, outcome: Outcome): Learner {
  const add = (to: { ok: number; limited: number }) => ({
    ok: to.ok + (outcome.kind === 'ok' ? 1 : 0),
    limited: to.limited + (outcome.kind === 'limited' ? 1 : 0),
  })
  const stale = outcome.atMs - learner.recent.sinceMs > restMs
  const recent = stale
    ? { ok: learner.recent.ok / 10, limited: learner.recent.limited / 10, sinceMs: outcome.atMs }
    : learner.recent
  return { ...learner, totals: add(learner.totals), recent: { ...add(recent), sinceMs: recent.sinceMs } }
}

/** After ten quiet minutes the limit may have moved, so the rate starts a little below it. */
function rested(learner: Learner, outcome: Outcome): Learner {
  const quiet = learner.lastAtMs > 0 && outcome.atMs - learner.lastAtMs > restMs
  return quiet && learner.phase !== 'learn' && !learner.block
    ? { ...learner, rate: learner.rate * restedPart, edge: null }
    : learner
}
