/**
 * A block: the server refuses every request, so only single trials are sent. The pacer learns how long the block lasts.
 */
import { countBetween } from './history.ts'
import { restedPart, type Block, type Learner, type Outcome } from './learner.ts'
import { endRenewedPenalty, endSuspectedBlock, longestPenaltyMs } from './penalty/penalty.ts'
import { afterTrial } from './penalty/way.ts'
import { afterEdge, rateBinds, withMeasuredRate } from './rate.ts'
import { isRestless } from './level/unrest.ts'
import {
  candidateWindowMs,
  currentIndex,
  newWindow,
  placeIn,
  spentAt,
  windowIntervalMs,
  type WindowLayer,
} from './windows.ts'

/** Blocks up to this length are attributed to a rate, longer ones to a window. */
export const shortBlockMs = 2000
/**
 * A fixed window serves nothing between its last request and its end. After this many contradictions the window counts
 * as sliding.
 */
const contradictionsToSlide = 3
/** Answers that come later than this after a block do not correct its measurement any more. */
const lateAnswerMs = 1000
/** After the first block the rate climbs by this share a second: the ramp has shown it roughly. */
const firstGrowth = 0.2
const firstPart = 0.85
/** A trial that was due so long before it was sent, or half of the block, says nothing about the block's length. */
const missedTrialMs = 5_000
/** A block that outlasts a minute of trials may be a door that every call closes anew: once, it is left alone for so long. */
const minuteMs = 62_000
const longestGapMs = 60_000
/** Trials of the first block are apart by at most so much, and by no more than so many intervals of the rate that was refused. */
const firstTrialGapMs = 250
const firstTrialGap = 6
/** A ramp that was refused this low has met a limit of about ten a second: half of a window of a second is over with the first trial. */
const slowRamp = { below: 45, gapMs: 500 }
const leastTrialGapMs = 100
/** A second penalty ends when the first one did, or by so much later. */
const laterMs = 500
/** One trial may be sent before the answer to another is known: at half the pace that the limit is thought to be, both are served. */
const trialIntervals = 2

export function startBlock(learner: Learner, refusal: Outcome, sinceMs: number): Learner {
  const block: Block = {
    sinceMs,
    lastFailMs: refusal.sentAtMs,
    nextTrialMs: 0,
    trialGapMs: 0,
    isAnnounced: false,
    places: refusal.places,
  }
  return {
    ...learner,
    phase: 'blocked',
    epoch: learner.epoch + 1,
    refusedRun: null,
    block: withNextTrial(learner, block, refusal),
  }
}

export function failTrial(learner: Learner, block: Block, refusal: Outcome): Learner {
  const failed = { ...block, lastFailMs: Math.max(block.lastFailMs, refusal.sentAtMs) }
  const windows = learner.windows.map((w) => spentAt(w, refusal, true))
  const way = afterTrial(learner.way, refusal)
  return { ...learner, windows, way, block: withNextTrial(learner, failed, refusal) }
}

/**
 * Trials are placed where a window is likely to end: at the known ends, and in growing gaps between them. Before a
 * known end, trials are few. Past it, or when no end is known, the gap decides how exactly the phase of a new window is
 * found.
 */
function withNextTrial(learner: Learner, block: Block, refusal: Outcome): Block {
  const nowMs = refusal.atMs
  const lastedMs = nowMs - block.sinceMs
  const ends = learner.windows
    .map((w) => w.anchorMs + (currentIndex(w, block.sinceMs) + 1) * w.lengthMs + 50)
    .filter((end) => end > nowMs)
  const gap = ends.length > 0 ? Math.max(leastTrialGapMs, lastedMs * 2) : gapMs(lastedMs, learner)
  const { retryAfterMs } = refusal
  // An announced end that was refused again was wrong: the trials then grow apart as they do without it.
  const leastMs = block.isAnnounced ? Math.min(gap, longestGapMs) : 0
  const nextTrialMs =
    retryAfterMs !== undefined ? nowMs + Math.max(retryAfterMs, leastMs) : Math.min(nowMs + gap, ...ends)
  const isAnnounced = block.isAnnounced || retryAfterMs !== undefined
  return { ...block, isAnnounced, nextTrialMs, trialGapMs: Math.max(leastTrialGapMs, nextTrialMs - nowMs) }
}

/**
 * The first block comes before any rate is known, and each trial is a refusal more: where the ramp was refused at a low rate, there
 * are fewer of them. At a high one they cost little, and tell better where the window ends.
 */
function unknownGapMs(lastedMs: number, { blockEndedMs, rate }: Learner): number {
  const isFirst = blockEndedMs === 0 && lastedMs < shortBlockMs
  const fewerMs = isFirst ? firstGapMs(lastedMs, rate) : 0
  if (lastedMs > minuteMs && lastedMs < minuteMs + longestPenaltyMs) return longestPenaltyMs
  if (lastedMs < 90_000) return Math.min(1000, Math.max(leastTrialGapMs, lastedMs / 5, fewerMs))
  return Math.min(longestGapMs, Math.max(1000, lastedMs / 20))
}

/** The trials of a first penalty have left open by up to a second when it ended. Each tenth of that counts in a run of a few minutes. */
function gapMs(lastedMs: number, learner: Learner): number {
  const usualMs = unknownGapMs(lastedMs, learner)
  const { windows, suspicion, rate } = learner
  if (windows.length > 0 || suspicion?.leastMs === undefined) return usualMs
  const leastMs = Math.max(leastTrialGapMs, (1000 * trialIntervals) / rate)
  if (lastedMs < suspicion.leastMs) return Math.min(usualMs, Math.max(leastMs, suspicion.leastMs - lastedMs))
  return lastedMs < suspicion.lengthMs + laterMs ? Math.min(usualMs, leastMs) : usualMs
}

function firstGapMs(lastedMs: number, rate: number): number {
  if (rate < slowRamp.below) return slowRamp.gapMs
  return Math.min(firstTrialGapMs, (1000 * firstTrialGap) / rate, lastedMs)
}

export function endBlock(learner: Learner, block: Block, ok: Outcome): Learner {
  const lastedMs = ok.sentAtMs - block.sinceMs
  const open: Learner = {
    ...learner,
    block: null,
    epoch: learner.epoch + 1,
    phase: 'hold',
    notBeforeMs: 0,
    okRun: 0,
  }
  // The run was stopped within the block, or the machine slept: the next one, a day later, has not waited for it.
  const missedMs = ok.sentAtMs - Math.max(block.lastFailMs, block.nextTrialMs)
  if (missedMs > Math.max(missedTrialMs, lastedMs / 2))
    return { ...open, rate: restedPart * open.rate, edge: null, blockEndedMs: ok.sentAtMs }
  const ended = open.windows
    .filter((w) => endsBetween(w, block.lastFailMs, ok.sentAtMs) && lastedMs <= w.lengthMs)
    .sort((a, b) => usedPart(b, block) - usedPart(a, block))[0]
  if (ended) return endWithWindow(open, ended, block, ok)
  if (!rateBinds(open)) {
    const binding = open.windows.reduce((a, b) => (windowIntervalMs(b) > windowIntervalMs(a) ? b : a))
    if (lastedMs <= binding.lengthMs) return contradict(open, binding, block, ok)
  }
  const isRenewed = lastedMs > minuteMs && lastedMs < minuteMs + 2 * longestPenaltyMs
  if (isRenewed && ok.sentAtMs - block.lastFailMs >= longestPenaltyMs && open.windows.length === 0)
    return { ...endRenewedPenalty(open, block, ok), blockEndedMs: ok.sentAtMs }
  const suspected =
    open.windows.length === 0 && !open.sliding ? endSuspectedBlock(open, block, ok) : undefined
  if (suspected) return { ...suspected, blockEndedMs: ok.sentAtMs }
  const ending = lastedMs <= shortBlockMs ? endShortBlock(open, block, ok) : endLongBlock(open, block, ok)
  return { ...ending, blockEndedMs: ok.sentAtMs }
}

function endsBetween(window: WindowLayer, fromMs: number, toMs: number): boolean {
  return currentIndex(window, fromMs) < currentIndex(window, toMs)
}

function usedPart(window: WindowLayer, block: Block): number {
  return ((placeIn(window, block.places)?.ordinal ?? 1) - 1) / window.base
}

/**
 * The window was exhausted before its known count, so the limit has dropped to the place of the first refusal. The
 * limit is not lowered all the way at once, because a block with another cause may end with the window by chance. When
 * it happens again, the true window is longer.
 */
function endWithWindow(open: Learner, window: WindowLayer, block: Block, ok: Outcome): Learner {
  const place = placeIn(window, block.places)
  if (!place) return open
  const longer = candidateWindowMs.find((length) => length > window.lengthMs)
  // A limit that falls within a window refuses at what that one has served, and at its own count in the next: that is no longer one,
  // which cannot be exhausted twice in so short a time.
  const isNext = block.sinceMs - window.loweredAtMs < window.lengthMs
  if (window.lowered >= 1 && longer && !isNext) {
    const windows = open.windows.filter((w) => w.lengthMs !== window.lengthMs)
    return open.windows.some((w) => w.lengthMs === longer)
      ? { ...open, windows }
      : withWindow({ ...open, windows }, windowFrom(open, longer, block, ok))
  }
  const limit = Math.max(1, place.ordinal - 1, Math.floor(0.4 * window.base))
  const isLowered = limit < 0.9 * window.base
  return withWindow(open, {
    ...window,
    limit,
    base: limit,
    confirmed: true,
    capIndex: -1,
    okSinceRefusal: 0,
    probeAfterOks: limit,
    ...(isLowered && { lowered: window.lowered + 1, loweredAtMs: ok.sentAtMs }),
  })
}

/**
 * Returns a window that begins now. Its first limit is the number of requests that were served in the same length before. Any
 * stretch of that length lies in two windows at most, so half of what was served in the one before the block is permitted: more
 * where the block had another cause, or was left alone for longer than it lasted.
 */
function windowFrom(open: Learner, lengthMs: number, block: Block, ok: Outcome): WindowLayer {
  const servedUntil = (atMs: number) => countBetween(open.history, atMs - lengthMs, atMs - 1)
  const permitted = Math.max(1, servedUntil(ok.sentAtMs), Math.floor(servedUntil(block.sinceMs) / 2))
  return newWindow(ok.sentAtMs, lengthMs, permitted)
}

/**
 * The block ended within the window. Just after the window's beginning, that is an error of phase: clocks drift slowly,
 * and some windows begin with their first request. When it continues, the window is sliding, and an even rate is all
 * that is needed.
 */
function contradict(open: Learner, window: WindowLayer, block: Block, ok: Outcome): Learner {
  const contradictions = window.contradictions + 1
  if (contradictions < contradictionsToSlide) {
    const anchorMs = usedPart(window, block) <= 0.1 ? ok.sentAtMs : window.anchorMs
    return withWindow(open, { ...window, contradictions, anchorMs, capIndex: -1 })
  }
  const sliding = { lengthMs: window.lengthMs, untilMs: ok.atMs + 20 * window.lengthMs }
  const windows = open.windows.filter((w) => w.lengthMs > window.lengthMs)
  const rate = window.base / (window.lengthMs / 1000)
  return slide({ ...open, sliding, windows, rate }, ok, window.confirmed)
}

/**
 * A sliding window serves a request when its count has dropped to the limit, so the count is the limit. The exception
 * is a guessed length that is too short, which shows as a count far too low.
 */
function slide(open: Learner, ok: Outcome, certain: boolean): Learner {
  const { lengthMs } = open.sliding!
  const counted = countBetween(open.history, ok.sentAtMs - lengthMs, ok.sentAtMs) / (lengthMs / 1000)
  const rate = Math.min(open.rate * 0.99, Math.max(counted, open.rate / 2))
  if (certain && counted >= 0.4 * open.rate) return { ...open, rate, phase: 'hold', okRun: 0 }
  return withMeasuredRate(open, rate, Math.min(0.03, 0.2 / (lengthMs / 1000)))
}

function endShortBlock(open: Learner, block: Block, ok: Outcome): Learner {
  const measured = goodput(open, block, ok)
  const isFirst = open.blockEndedMs === 0
  const part = isFirst ? firstPart : 1
  const found = Math.min(open.rate * 0.99, Math.max(part * measured, open.rate / 10))
  const growth = isFirst ? firstGrowth : 0.03
  const unrest = afterEdge(open, found, ok.atMs)
  return {
    ...withMeasuredRate(open, found, growth),
    suspicion: null,
    ...(isRestless(unrest, ok.atMs) ? { okRun: 0, phase: 'hold' as const } : {}),
    unrest,
    measuring: {
      fromMs: ok.sentAtMs - 1000,
      toMs: ok.sentAtMs - 1,
      untilMs: ok.atMs + lateAnswerMs,
      most: open.rate * 0.99,
      growth,
      part,
    },
  }
}

/** Answers from before a block come after its end: the more of them were served, the higher the rate. */
export function measureAgain(learner: Learner, ok: Outcome): Learner {
  const { measuring } = learner
  if (!measuring) return learner
  if (ok.atMs > measuring.untilMs) return { ...learner, measuring: null }
  const { fromMs, toMs, most } = measuring
  const served = (1000 * countBetween(learner.history, fromMs, toMs)) / (toMs + 1 - fromMs)
  if (measuring.part * served <= learner.rate || learner.phase !== 'probe') return learner
  return withMeasuredRate(learner, Math.min(most, measuring.part * served), measuring.growth)
}

/**
 * A short window ends where success returns: between two such ends lies a whole number of windows and all the requests
 * that they permit. After the first block the length is unknown. The largest rate of the likely lengths is used, and
 * the next refusals correct it.
 */
function goodput(open: Learner, block: Block, ok: Outcome): number {
  const perSecond = (lengthMs: number) =>
    countBetween(open.history, ok.sentAtMs - lengthMs, ok.sentAtMs - 1) / (lengthMs / 1000)
  const sinceEndMs = ok.sentAtMs - open.blockEndedMs
  if (sinceEndMs >= 1000 && sinceEndMs < 10_000) return perSecond(sinceEndMs)
  return Math.max(...[1000, 2000, 3000].filter((ms) => ms > ok.sentAtMs - block.sinceMs).map(perSecond))
}

function endLongBlock(open: Learner, block: Block, ok: Outcome): Learner {
  const lastedMs = ok.sentAtMs - block.sinceMs
  const slides = open.sliding
  if (slides && slides.untilMs > ok.atMs && lastedMs <= slides.lengthMs) return slide(open, ok, true)
  const lengthMs =
    open.windows.find((w) => lastedMs <= w.lengthMs)?.lengthMs ??
    candidateWindowMs.find((length) => length > (lastedMs + block.lastFailMs - block.sinceMs) / 2) ??
    candidateWindowMs.at(-1)!
  // A shorter window that also seemed exhausted was a first guess at this one.
  const windows = open.windows.filter((w) => w.lengthMs > lengthMs || usedPart(w, block) < 0.9)
  return withWindow({ ...open, windows }, windowFrom(open, lengthMs, block, ok))
}

function withWindow(learner: Learner, window: WindowLayer): Learner {
  const others = learner.windows.filter((w) => w.lengthMs !== window.lengthMs)
  return { ...learner, windows: [...others, window].sort((a, b) => a.lengthMs - b.lengthMs) }
}
