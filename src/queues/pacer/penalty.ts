/**
 * A penalty: a refusal closes the door for a while, whatever the pace. Each refusal costs all requests of that time, so the
 * limit is searched for from below, with as few refusals as it takes, and then hardly ever tested.
 */
import { countBetween } from './history.ts'
import type { Block, Learner, Outcome, Penalty } from './learner.ts'
import { withMeasuredRate } from './rate.ts'
import { candidateWindowMs } from './windows.ts'

/** A shorter block is a rate's; a longer one is more likely the end of a window of a minute. */
const shortestPenaltyMs = 1900
export const longestPenaltyMs = 35_000
/** Two blocks of one penalty differ by the gap between trials. */
const sameLength = 0.25
/** A window that a block and the time before it fill. */
const nearWindow = 0.1

/** While a penalty is suspected, the rate climbs slowly from this share of what was served before, so that its refusal is an edge. */
const searchFrom = 0.65
const searchGrowth = 0.03
/** A ramp that came so far had served some hundred requests: that is more often a counted window, which is met again at once. */
const likelyCounted = 300
const fastFrom = 0.8
const fastGrowth = 0.06
/** A limit may serve so many requests beyond its rate before it refuses. */
const mostExtra = 4
const savingRatio = 2.45
/** From here on a third refusal costs more than an unused part. What is not certain is tested after so many penalties' time. */
const longMs = 8_000
const testAfterFew = 15
const testAfterSome = 40
/** A block that may have been a penalty or a window's: the next refusal is to come after another time. */
const tieFrom = 0.9
const tieGrowth = 0.01
/** The first rate that is tried between one that was surely served and one that was refused: lower where the penalty is long. */
const firstTry = 0.6
const leastFirstTry = 0.3
const firstTryMs = 5_000
const firstTryGrowth = 0.004
/** Two refusals that show the same sure rate show the limit. */
const sameRate = 0.04
/** From what was surely served, the rate climbs by this share a second, and by half of it after each refusal. */
const firstGrowth = 0.01
/** It ends so far below the lowest rate that was refused. */
const margin = 0.03
/** The ceiling is tested after so many penalties' time, so that a limit that rose is found at a cost of one percent. */
const testAfterPenalties = 100
const testGrowth = 0.002
/** A refusal so soon after the door should have opened shows that it has not. */
const stillClosedMs = 300
/** Answers from the last moments before a refusal are still under way. */
const underWayMs = 600

const unsearched = { refusedRate: Infinity, sureRate: 0, growth: 0, ceiling: 0, isFound: false }

/**
 * Returns the learner that goes on after a block that may have been a penalty, or undefined when it was none. A counted window
 * loses nothing by it: its requests are served as fast as they come, until it refuses again.
 */
export function endSuspectedBlock(open: Learner, block: Block, ok: Outcome): Learner | undefined {
  const lastedMs = ok.sentAtMs - block.sinceMs
  if (lastedMs < shortestPenaltyMs || lastedMs > longestPenaltyMs || block.isAnnounced) return undefined
  const before = open.suspicion
  if (!before) {
    const served = countBetween(open.history, block.sinceMs - 1000, block.sinceMs)
    const measured = Math.min(open.rate, Math.max(served, open.rate / 2))
    const suspicion = { lengthMs: lastedMs, endedAtMs: ok.sentAtMs }
    if (open.rate > likelyCounted)
      return { ...withMeasuredRate(open, fastFrom * measured, fastGrowth), suspicion }
    const slow = { refusedRate: open.rate, growth: searchGrowth, resumedAtMs: ok.atMs }
    return {
      ...withMeasuredRate(open, searchFrom * measured, searchGrowth),
      suspicion: { ...suspicion, ...slow },
    }
  }
  const survivedMs = block.sinceMs - before.endedAtMs
  const isWindow = candidateWindowMs.some(
    (length) => Math.abs(survivedMs + lastedMs - length) <= nearWindow * length,
  )
  const longest = Math.max(lastedMs, before.lengthMs)
  const isSame = Math.abs(lastedMs - before.lengthMs) <= sameLength * longest
  if (!isSame) return undefined
  if (isWindow) {
    // It may be either. The next refusal at another pace comes after another time, and tells.
    const suspicion = {
      ...before,
      lengthMs: longest,
      endedAtMs: ok.sentAtMs,
      resumedAtMs: ok.atMs,
      growth: tieGrowth,
    }
    return { ...withMeasuredRate(open, tieFrom * open.rate, tieGrowth), suspicion }
  }
  const penalty = { ...unsearched, lengthMs: longest, resumedAtMs: before.resumedAtMs ?? before.endedAtMs }
  const learner = { ...open, phase: 'hold' as const, suspicion: null }
  return refusedAgain(learner, penalty, block.sinceMs, ok.sentAtMs, before.refusedRate)
}

/** The door opened when it was left alone for once: every call closes it anew. The rate climbs from what was surely served. */
export function endRenewedPenalty(open: Learner, block: Block, ok: Outcome): Learner {
  const sureRate = surelyServed(open, block.sinceMs, 0)
  const search = { growth: searchGrowth, ceiling: (1 - margin) * open.rate, isFound: false }
  const bounds = { refusedRate: open.rate, sureRate, lengthMs: longestPenaltyMs, resumedAtMs: ok.atMs }
  return { ...open, rate: sureRate, suspicion: null, penalty: { ...bounds, ...search } }
}

/** A refusal where a penalty is known: nothing is sent until it has passed. */
export function penalise(learner: Learner, penalty: Penalty, refusal: Outcome): Learner {
  // The door was closed already: the request was under way when it was.
  if (refusal.sentAtMs < penalty.resumedAtMs) return learner
  const isStillClosed = refusal.sentAtMs - penalty.resumedAtMs < stillClosedMs
  const lengthMs = isStillClosed ? 1.5 * penalty.lengthMs : penalty.lengthMs
  // It is something else, then, and is learned anew.
  if (lengthMs > 2 * longestPenaltyMs) return { ...learner, penalty: null }
  const resumedAtMs = refusal.atMs + Math.max(lengthMs, refusal.retryAfterMs ?? 0)
  const refused = isStillClosed
    ? { ...learner, penalty: { ...penalty, lengthMs, resumedAtMs } }
    : refusedAgain(learner, penalty, refusal.sentAtMs, resumedAtMs)
  return {
    ...refused,
    notBeforeMs: Math.max(learner.notBeforeMs, resumedAtMs),
    epoch: learner.epoch + 1,
  }
}

/**
 * A refusal gives two bounds. The limit is below the refused rate. And it is above what was served since the door opened, less
 * a second's worth, which is as much as most services save up. The first try lies between; after it the rate climbs from below.
 */
function refusedAgain(
  learner: Learner,
  before: Penalty,
  refusedMs: number,
  resumedAtMs: number,
  firstRefused = 0,
): Learner {
  const isTest = before.isFound && learner.rate > before.ceiling
  const refusedRate = isTest ? learner.rate : Math.min(learner.rate, before.refusedRate)
  const served = surelyServed(learner, refusedMs, before.resumedAtMs)
  const sureRate = Math.min(refusedRate, Math.max(refusedRate / 4, served))
  const ceiling = (1 - margin) * refusedRate
  const { rate, ...search } = nextTry(learner, before, { refusedRate, sureRate, ceiling, firstRefused })
  const penalty = { lengthMs: before.lengthMs, refusedRate, sureRate, resumedAtMs, ...search }
  return { ...learner, rate: Math.min(rate, ceiling), penalty, okRun: 0, refusedRun: null }
}

type Bounds = Pick<Penalty, 'refusedRate' | 'sureRate' | 'ceiling'> & { firstRefused: number }
type Search = Pick<Penalty, 'growth' | 'ceiling' | 'isFound' | 'testAfter'> & { rate: number }

function nextTry(
  learner: Learner,
  before: Penalty,
  { refusedRate, sureRate, ceiling, firstRefused }: Bounds,
): Search {
  if (before.refusedRate === Infinity && firstRefused > 0) {
    return fromEdge(before.lengthMs, { refusedRate, sureRate, ceiling, firstRefused })
  }
  if (before.refusedRate === Infinity) {
    const part = Math.max(leastFirstTry, Math.min(firstTry, firstTryMs / before.lengthMs))
    const rate = sureRate + part * (refusedRate - sureRate)
    return { rate, growth: firstTryGrowth, ceiling, isFound: false }
  }
  const isSaved = Math.abs(Math.log(sureRate / before.sureRate)) < sameRate
  if (isSaved) return { rate: sureRate, growth: 0, ceiling: sureRate, isFound: true }
  const isEdge = learner.rate > (1 - 1.5 * margin) * before.refusedRate
  const growth = before.growth === firstTryGrowth ? firstGrowth : before.growth / 2
  return { rate: isEdge ? ceiling : sureRate, growth, ceiling, isFound: isEdge }
}

/**
 * The second refusal is an edge, met slowly from below: the limit is so much under it as a few requests that were saved up last for.
 * A limit that saves up a second's worth is met later, and the first refusal tells which it is: a rate that doubles twice a second
 * is refused at nearly four times such a limit, and at less than twice the others. A long penalty ends the search here.
 */
function fromEdge(lengthMs: number, { refusedRate, sureRate, ceiling, firstRefused }: Bounds): Search {
  const edge =
    refusedRate * (1 - Math.sqrt((2 * mostExtra * searchGrowth) / Math.max(refusedRate, mostExtra)))
  const isSaving = firstRefused > savingRatio * refusedRate
  const rate = isSaving ? Math.min(sureRate, edge) : edge
  if (lengthMs >= longMs) {
    const testAfter = isSaving ? testAfterFew : testAfterSome
    return { rate, growth: 0, ceiling: rate, isFound: true, testAfter }
  }
  const growth = isSaving ? firstTryGrowth : firstTryGrowth / 2
  return { rate, growth, ceiling: isSaving ? edge : ceiling, isFound: false }
}

export function climbUnderPenalty(learner: Learner, penalty: Penalty, ok: Outcome): Learner {
  const { testAfter = testAfterPenalties, lengthMs } = penalty
  const mayTest = ok.sentAtMs - penalty.resumedAtMs > testAfter * lengthMs
  const growth = mayTest ? testGrowth : penalty.growth
  const climbed = learner.rate * (1 + growth / Math.max(1, learner.rate))
  return { ...learner, rate: mayTest ? climbed : Math.max(learner.rate, Math.min(climbed, penalty.ceiling)) }
}

function surelyServed(learner: Learner, refusedMs: number, resumedAtMs: number): number {
  const rates = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64]
    .map((seconds) => Math.min(1000 * seconds, refusedMs - resumedAtMs))
    .map((ms) => {
      const known = countBetween(learner.history, refusedMs - ms - 1, refusedMs - underWayMs)
      return (known + (learner.rate * Math.min(ms, underWayMs)) / 1000) / (ms / 1000 + 1)
    })
  return Math.max(...rates)
}
