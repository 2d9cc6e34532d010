/**
 * What the pacer knows of a limit that nobody tells it, as a pure function of what came back.
 *
 *            first 429            success returns soon            no 429 for long
 *   learn ───────────────▶ blocked ──────────────────▶ hold ─────────────────────────▶ probe
 *   rate doubles           single    (rate: measured)  −1 % a 429,    429: back        climbs ever
 *   every second           trials                      +0.0033 % an ok ◀─────────────── faster
 *                          ▲   │
 *         a run of 429s ───┘   └── success returns late: a window of that length is known from now on
 *
 * Two kinds of limit are held at once, and the slower one sets the pace:
 *
 * - The *rate* (windows of a second, sliding windows, token buckets). In `hold` it settles where one request in 300 is refused;
 *   that refusal is the only way to know that the limit still stands where it stood. Successes teach only while the pacer was
 *   the bottleneck.
 * - Counted *windows* (`windows.ts`): ten seconds, a minute, an hour. Their count is exact after one refusal, spent evenly,
 *   and tried with one request too many at the end of a window.
 *
 * The length of a block tells which of the two was hit. Answers come late and out of order, from many processes: a grant carries
 * its time, its epoch and its place in each window, and nothing here depends on the order of reports.
 *
 * Times are milliseconds on Redis's clock; rates are requests a second.
 */
import { addSuccess, countBetween, type Checkpoint } from './history.ts'
import type { Pace, WindowPace, WindowPlace } from './token.ts'
import {
  candidateWindowMs,
  currentIndex,
  exhausted,
  learnFromPlaces,
  placeIn,
  spentAt,
  windowIntervalMs,
  windowPaces,
  type WindowLayer,
} from './windows.ts'

export type Phase = 'learn' | 'blocked' | 'hold' | 'probe'

export interface Learner {
  phase: Phase
  epoch: number
  rate: number
  /** Successes since the last 429 while the rate was the bottleneck. */
  okRun: number
  grownAtMs: number
  /** The rate from which the probe set out; null when it was never certain. */
  probeFrom: number | null
  refusedRun: RefusedRun | null
  block: Block | null
  notBeforeMs: number
  windows: WindowLayer[]
  history: Checkpoint[]
  headers: { resetAtMs: number; intervalMs: number } | null
  /** Successes between two refusals to aim at: more when each refusal costs a long Retry-After. */
  okPerRefusal: number
  lastAtMs: number
  totals: { ok: number; limited: number }
  recent: { ok: number; limited: number; sinceMs: number }
}

interface RefusedRun {
  count: number
  firstSentMs: number
  /** Refusals that followed each other with no slot in between. */
  adjacent: number
  /** The next slot after this one, pauses included. */
  followsUntilMs: number
}

interface Block {
  sinceMs: number
  lastFailMs: number
  nextTrialMs: number
  trialGapMs: number
  /** Where the first refused request stood in each window. */
  places: readonly WindowPlace[]
}

export interface Outcome {
  /** When the outcome was known; `sentAtMs` is the time of the grant. */
  atMs: number
  sentAtMs: number
  kind: 'ok' | 'limited'
  epoch: number
  busy: boolean
  places: readonly WindowPlace[]
  retryAfterMs?: number | undefined
  rateLimit?: { remaining: number; resetMs: number; limit?: number | undefined } | undefined
}

export interface LearnerTerms {
  initialPerSecond: number
  minPerSecond: number
  maxPerSecond: number
}

export const defaultLearnerTerms: LearnerTerms = {
  initialPerSecond: 2,
  minPerSecond: 1 / 600,
  maxPerSecond: 1000,
}

/** A refusal lowers the rate by this part; `okPerRefusal` successes raise it by the same. */
const cutPerRefusal = 0.004
const okPerRefusal = 300
/** Without a refusal for that many times as long, the climb doubles its speed again and again. */
const probeAfterRuns = 2
const probeDoubleOks = 60
/** A window of a second answers only at its end: neither may be faster than that. */
const probeAfterSeconds = 5
const probeDoubleSeconds = 2
/** Blocks up to this length are a matter of rate, longer ones of a window. */
const shortBlockMs = 2000
const runOfRefusals = 5
const runSpanMs = 200
const restMs = 600_000

export function newLearner(terms: LearnerTerms): Learner {
  return {
    phase: 'learn',
    epoch: 0,
    rate: clampRate(terms.initialPerSecond, terms),
    okRun: 0,
    grownAtMs: 0,
    probeFrom: null,
    refusedRun: null,
    block: null,
    notBeforeMs: 0,
    windows: [],
    history: [],
    headers: null,
    okPerRefusal,
    lastAtMs: 0,
    totals: { ok: 0, limited: 0 },
    recent: { ok: 0, limited: 0, sinceMs: 0 },
  }
}

export function learn(before: Learner, outcome: Outcome, terms: LearnerTerms): Learner {
  const learner = count(rested(before, outcome), outcome)
  const taught =
    outcome.kind === 'ok' ? learnFromOk(learner, outcome, terms) : learnFromRefusal(learner, outcome, terms)
  const known = outcome.rateLimit ? learnFromHeaders(taught, outcome, outcome.rateLimit) : taught
  return { ...known, rate: clampRate(known.rate, terms), lastAtMs: Math.max(known.lastAtMs, outcome.atMs) }
}

export function paceOf(learner: Learner, nowMs: number): Pace {
  const { block, epoch } = learner
  if (block) {
    // Counts go on through a block, but nothing is held back by them: the trials are what finds the end.
    const windows = windowPaces(learner.windows).map((w): WindowPace => ({ ...w, limit: 1e9, capIndex: -1 }))
    return { epoch, intervalMs: block.trialGapMs, notBeforeMs: block.nextTrialMs, windows }
  }
  return {
    epoch,
    intervalMs: intervalMs(learner, nowMs),
    notBeforeMs: learner.notBeforeMs,
    windows: windowPaces(learner.windows),
  }
}

function intervalMs(learner: Learner, nowMs: number): number {
  const learned = Math.max(1000 / learner.rate, ...learner.windows.map(windowIntervalMs))
  const told = learner.headers && learner.headers.resetAtMs > nowMs ? learner.headers.intervalMs : null
  return told ?? learned
}

function learnFromOk(before: Learner, ok: Outcome, terms: LearnerTerms): Learner {
  const learner = { ...before, history: addSuccess(before.history, ok.sentAtMs) }
  if (learner.block) {
    return ok.epoch === learner.epoch ? endBlock(learner, learner.block, ok) : learner
  }
  if (learner.refusedRun && ok.sentAtMs > learner.refusedRun.firstSentMs) learner.refusedRun = null
  learner.windows = learner.windows.map((w) => learnFromPlaces(w, ok, learner.okPerRefusal))
  if (!ok.busy || !rateBinds(learner)) return learner
  if (learner.phase === 'learn') return ramp(learner, ok)
  return climb(learner, terms)
}

/** Doubles every second of use; answers that come in bunches count for no more time than passed. */
function ramp(learner: Learner, ok: Outcome): Learner {
  const passedMs = Math.min(Math.max(0, ok.atMs - learner.grownAtMs), 250)
  return {
    ...learner,
    rate: learner.rate * 2 ** (passedMs / 1000),
    grownAtMs: Math.max(ok.atMs, learner.grownAtMs),
  }
}

function climb(learner: Learner, terms: LearnerTerms): Learner {
  const okRun = learner.okRun + 1
  const step = climbStep(okRun, learner)
  const phase: Phase = okRun > probeAfter(learner) ? 'probe' : 'hold'
  const probeFrom = phase === 'hold' ? learner.rate : learner.probeFrom
  return { ...learner, okRun, phase, probeFrom, rate: clampRate(learner.rate * (1 + step), terms) }
}

function probeAfter(learner: Learner): number {
  return Math.max(probeAfterRuns * learner.okPerRefusal, probeAfterSeconds * learner.rate)
}

function probeDouble(learner: Learner): number {
  return Math.max(probeDoubleOks, probeDoubleSeconds * learner.rate)
}

/** Never faster than doubling every second. */
function climbStep(okRun: number, learner: Learner): number {
  const base = cutPerRefusal / learner.okPerRefusal
  const beyond = Math.max(0, okRun - probeAfter(learner))
  return Math.min(base * 2 ** (beyond / probeDouble(learner)), Math.LN2 / Math.max(1, learner.rate))
}

function learnFromRefusal(learner: Learner, refusal: Outcome, terms: LearnerTerms): Learner {
  if (learner.block) {
    return refusal.epoch === learner.epoch ? failTrial(learner, learner.block, refusal) : learner
  }
  if (refusal.epoch < learner.epoch) return learner
  const windows = learner.windows.map((w) => spentAt(w, refusal))
  const spent = learner.windows.find((w) => exhausted(w, refusal))
  if (spent) {
    return honourRetryAfter({ ...learner, windows, okRun: 0 }, refusal)
  }
  const run = extendRun(learner, refusal)
  const next = {
    ...learner,
    windows,
    refusedRun: run,
    notBeforeMs: Math.max(learner.notBeforeMs, pauseAfter(run, learner, refusal)),
  }
  const isRun = run.count >= runOfRefusals && refusal.sentAtMs - run.firstSentMs >= runSpanMs
  if (
    learner.phase === 'learn' ||
    isRun ||
    !rateBinds(learner) ||
    (refusal.retryAfterMs ?? 0) > shortBlockMs
  ) {
    return startBlock(next, refusal, run.firstSentMs)
  }
  const rate = clampRate(rateAfterRefusal(learner), terms)
  return honourRetryAfter({ ...next, rate, okRun: 0, phase: 'hold' }, refusal)
}

/** A bucket answers a probe late, when it has run dry: what was climbed beyond the last certain rate counts a quarter. */
function rateAfterRefusal(learner: Learner): number {
  const { rate, probeFrom, phase } = learner
  const cut = rate * (1 - cutPerRefusal)
  if (phase !== 'probe') return cut
  if (probeFrom !== null && rate < 1.25 * probeFrom) return Math.min(cut, probeFrom ** 0.75 * rate ** 0.25)
  return cut / (1 + climbStep(learner.okRun, learner) * rate * 0.5)
}

function extendRun(learner: Learner, refusal: Outcome): RefusedRun {
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
 * One refusal is an answer; a second in the slot after it says that the limit is in debt (a bucket that counts refused calls,
 * the tail of a window), and only leaving slots free pays that back.
 */
function pauseAfter(run: { adjacent: number }, learner: Learner, refusal: Outcome): number {
  return refusal.atMs + (run.adjacent * 1000) / learner.rate
}

/** A pause of R seconds costs R × rate requests, so it is asked for a hundred times more rarely than that. */
function honourRetryAfter(learner: Learner, refusal: Outcome): Learner {
  if (refusal.retryAfterMs === undefined) return learner
  const lost = (refusal.retryAfterMs / 1000) * learner.rate
  return {
    ...learner,
    notBeforeMs: Math.max(learner.notBeforeMs, refusal.atMs + refusal.retryAfterMs),
    okPerRefusal: Math.max(okPerRefusal, 100 * lost),
  }
}

function rateBinds(learner: Learner): boolean {
  return learner.windows.every((w) => windowIntervalMs(w) <= 1000 / learner.rate)
}

function startBlock(learner: Learner, refusal: Outcome, sinceMs: number): Learner {
  const block: Block = {
    sinceMs,
    lastFailMs: refusal.sentAtMs,
    nextTrialMs: 0,
    trialGapMs: 0,
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

function failTrial(learner: Learner, block: Block, refusal: Outcome): Learner {
  const failed = { ...block, lastFailMs: Math.max(block.lastFailMs, refusal.sentAtMs) }
  const windows = learner.windows.map((w) => spentAt(w, refusal, true))
  return { ...learner, windows, block: withNextTrial(learner, failed, refusal) }
}

/**
 * Trials stand where a window is likely to end: at the known ends, and in growing gaps in between. While a known end lies ahead
 * they are few; past it, or with nothing known, the gap decides how exactly the phase of a new window is found.
 */
function withNextTrial(learner: Learner, block: Block, refusal: Outcome): Block {
  const nowMs = refusal.atMs
  const lastedMs = nowMs - block.sinceMs
  const ends = learner.windows
    .map((w) => w.anchorMs + (currentIndex(w, block.sinceMs) + 1) * w.lengthMs + 50)
    .filter((end) => end > nowMs)
  const gap = ends.length > 0 ? Math.max(100, lastedMs * 2) : unknownGapMs(lastedMs)
  const told = refusal.retryAfterMs
  const nextTrialMs = told !== undefined ? nowMs + told : Math.min(nowMs + gap, ...ends)
  return { ...block, nextTrialMs, trialGapMs: Math.max(100, nextTrialMs - nowMs) }
}

function unknownGapMs(lastedMs: number): number {
  if (lastedMs < 90_000) return Math.min(1000, Math.max(100, lastedMs / 5))
  return Math.min(60_000, Math.max(1000, lastedMs / 20))
}

function endBlock(learner: Learner, block: Block, ok: Outcome): Learner {
  const lastedMs = ok.sentAtMs - block.sinceMs
  const open: Learner = {
    ...learner,
    block: null,
    epoch: learner.epoch + 1,
    phase: 'hold',
    notBeforeMs: 0,
    okRun: 0,
  }
  const ended = learner.windows.find(
    (w) => endsBetween(w, block.lastFailMs, ok.sentAtMs) && lastedMs <= w.lengthMs,
  )
  if (ended) return withWindow(open, windowAfterBlock(ended, block))
  if (lastedMs <= shortBlockMs) return endShortBlock(open, block, ok)
  return endLongBlock(open, block, ok)
}

function endsBetween(window: WindowLayer, fromMs: number, toMs: number): boolean {
  return currentIndex(window, fromMs) < currentIndex(window, toMs)
}

/** The window was spent before its known count: the limit has come down to where the first refusal stood. */
function windowAfterBlock(window: WindowLayer, block: Block): WindowLayer {
  const place = placeIn(window, block.places)
  if (!place) return window
  const limit = Math.max(1, place.ordinal - 1)
  return { ...window, limit, base: limit, confirmed: true, capIndex: -1, okSinceRefusal: 0 }
}

function endShortBlock(open: Learner, block: Block, ok: Outcome): Learner {
  const drifted = open.windows.find((w) => justBegun(w, block.places))
  if (drifted) return withWindow(open, { ...drifted, anchorMs: ok.sentAtMs, capIndex: -1 })
  // A window of a second ends where success returns, so the second before holds exactly what it permits.
  const measured = countBetween(open.history, ok.sentAtMs - 1000, ok.sentAtMs - 1)
  const current = Math.min(open.rate, ...open.windows.map((w) => 1000 / windowIntervalMs(w)))
  const rate = Math.min(current * (1 - cutPerRefusal), Math.max(measured, current / 10))
  // Measured in a hurry, so look for more at 3 % a second until the next refusal.
  const hurry = Math.log2(Math.max(1, (0.03 / rate) * (open.okPerRefusal / cutPerRefusal)))
  return {
    ...open,
    rate,
    okRun: Math.floor(probeAfter({ ...open, rate }) + probeDouble({ ...open, rate }) * hurry),
    phase: 'probe',
    probeFrom: null,
  }
}

/** The clocks of a window's owner and ours part slowly, and some windows begin with their first request. */
function justBegun(window: WindowLayer, places: readonly WindowPlace[]): boolean {
  const place = placeIn(window, places)
  return place !== undefined && place.ordinal - 1 <= 0.1 * window.base
}

function endLongBlock(open: Learner, block: Block, ok: Outcome): Learner {
  const lastedMs = ok.sentAtMs - block.sinceMs
  const known = open.windows.find((w) => lastedMs <= w.lengthMs)
  const lengthMs =
    known?.lengthMs ??
    candidateWindowMs.find((length) => length >= lastedMs * 1.02) ??
    candidateWindowMs.at(-1)!
  if (known && justBegun(known, block.places)) {
    return withWindow(open, { ...known, anchorMs: ok.sentAtMs, capIndex: -1 })
  }
  const permitted = countBetween(open.history, ok.sentAtMs - lengthMs, ok.sentAtMs - 1)
  const limit = Math.max(1, permitted)
  return withWindow(open, {
    anchorMs: ok.sentAtMs,
    lengthMs,
    limit,
    base: limit,
    confirmed: false,
    capIndex: -1,
    cap: 0,
    refusedIndex: -1,
    refused: 0,
    okSinceRefusal: 0,
  })
}

function withWindow(learner: Learner, window: WindowLayer): Learner {
  const others = learner.windows.filter((w) => w.lengthMs !== window.lengthMs)
  return { ...learner, windows: [...others, window].sort((a, b) => a.lengthMs - b.lengthMs) }
}

/** Told beats learned. What other processes have sent since is unknown here, so the share left is spread to the reset. */
function learnFromHeaders(
  learner: Learner,
  outcome: Outcome,
  told: NonNullable<Outcome['rateLimit']>,
): Learner {
  const resetAtMs = outcome.atMs + told.resetMs
  const remaining = Math.max(0, told.remaining)
  if (remaining === 0)
    return { ...learner, notBeforeMs: Math.max(learner.notBeforeMs, resetAtMs), headers: null }
  return { ...learner, headers: { resetAtMs, intervalMs: told.resetMs / remaining } }
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

/** After ten quiet minutes the limit may have moved: begin a little below it. */
function rested(learner: Learner, outcome: Outcome): Learner {
  const quiet = learner.lastAtMs > 0 && outcome.atMs - learner.lastAtMs > restMs
  return quiet && learner.phase !== 'learn' && !learner.block
    ? { ...learner, rate: learner.rate * 0.9 }
    : learner
}

function clampRate(rate: number, terms: LearnerTerms): number {
  return Math.min(terms.maxPerSecond, Math.max(terms.minPerSecond, rate))
}
