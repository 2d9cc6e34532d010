/**
 * A penalty: a refusal closes the door for a while, whatever the pace. Each refusal costs all requests of that time, so the
 * limit is found by explaining the refusals that there were (`evidence.ts`), and then hardly ever tested.
 */
import { countBetween } from '../history.ts'
import type { Block, Learner, Outcome, Penalty, Pulses, Suspicion } from '../learner.ts'
import { withMeasuredRate } from '../rate.ts'
import { candidateWindowMs } from '../windows.ts'
import { evidenceOf, ofBucket, overtakenMs, type Evidence } from './evidence.ts'
import { choose } from './choice.ts'
import { isSearched, pulseRate, pulsesAfter, pulsesOf, servedPulse } from './pulses.ts'

/** A shorter block is a rate's; a longer one is more likely the end of a window of a minute. */
const shortestPenaltyMs = 1900
export const longestPenaltyMs = 35_000
/** Two blocks of one penalty differ by the gap between trials. */
const sameLength = 0.25
/** A window that a block and the time before it fill. */
const nearWindow = 0.1
/** A window serves as many each time, but others may have used a part of the first one. */
const asMany = 0.8

/** A ramp that came so far had served some hundred requests: that is more often a counted window, which is met again at once. */
const likelyCounted = 300
const fastFrom = 0.8
const fastGrowth = 0.06
/** A block that may have been a penalty or a window's: the next refusal is to come after another time. */
const tieFrom = 0.9
const tieGrowth = 0.01
/** After a search that has met no limit. */
const searchedGrowth = 0.2
/** The rate climbs by so much from a bucket's limit, where no limit explains the refusals. */
const unexplainedGrowth = 0.01
/** It ends so far below the rate that was refused. */
const margin = 0.01
const leastPart = 0.25
/** Each further refusal soon after the door has opened: an even pace that is refused tells little more when it is tried again. */
const earlyTimes = 1.5
const mostEarly = 5
/** A rate is tested after so many penalties' time, so that a limit that rose is found at a cost of one percent. */
const testAfterMost = 100
const testGrowth = 0.002
/**
 * Until the end of a block is known everywhere, with room to spare: an answer is held for 50 ms, and who waits asks every 250. What was
 * not sent by then is not made up for, so that the first requests are spaced.
 */
const knownMs = 600
const mostEvidence = 4
/** Answers come so late at most, for what they tell of a refusal. */
const lateMs = 1_500
/** A refusal so soon after the door should have opened, and of one of the first requests, shows that it has not. */
const stillClosedMs = 300
const stillClosedIntervals = 2.5
/** The first permit comes late by as much. */
const leastOpenMs = 30
/** A rate that was served for so long is mostly within the limit, and refused because requests came less evenly than they were meant to. */
const servedMs = 6_000
/** Then it falls by so much, and not by as little as one that was too high. */
const unevenPart = 0.97

/**
 * Returns the learner that goes on after a block that may have been a penalty, or undefined when it was none. A counted window
 * loses 0.6 s by it: its requests are served as fast as they come then, until it refuses again.
 */
export function endSuspectedBlock(ended: Learner, block: Block, ok: Outcome): Learner | undefined {
  const open = { ...ended, notBeforeMs: ok.atMs + knownMs }
  const lastedMs = ok.sentAtMs - block.sinceMs
  if (lastedMs < shortestPenaltyMs || lastedMs > longestPenaltyMs || block.isAnnounced) return undefined
  const before = open.suspicion
  const told = evidenceOf(open.history, block.sinceMs)
  const evidence = [...(before?.evidence ?? []), told]
  const times = { sinceMs: block.sinceMs, endedAtMs: ok.sentAtMs, resumedAtMs: ok.atMs }
  if (!before) {
    const leastMs = block.lastFailMs - block.sinceMs
    const suspicion = { ...times, leastMs, lengthMs: lastedMs, evidence }
    if (open.rate > likelyCounted) {
      const served = countBetween(open.history, block.sinceMs - 1000, block.sinceMs)
      const measured = Math.min(open.rate, Math.max(served, open.rate / 2))
      return { ...withMeasuredRate(open, fastFrom * measured, fastGrowth), suspicion }
    }
    // A level that was known is not given up for one refusal, but the ramp's rate tells nothing.
    const least = ended.blockEndedMs === 0 ? 0 : leastPart * open.rate
    const pulses = pulsesAfter(told, ok.atMs + knownMs, open.preparedMs, least)
    return {
      ...withMeasuredRate(open, pulses.count, tieGrowth),
      suspicion: { ...suspicion, pulses },
    }
  }
  const lengthMs = Math.max(lastedMs, before.lengthMs)
  if (Math.abs(lastedMs - before.lengthMs) > sameLength * lengthMs) return undefined
  if (mayBeWindow(open, before, block, lastedMs)) {
    // The next refusal at another pace comes after another time, and tells.
    const suspicion = { ...times, lengthMs, evidence, growth: tieGrowth }
    const rate = (before.pulses && choose(evidence, lengthMs, open.way.variesMs)?.perSecond) ?? open.rate
    return { ...withMeasuredRate(open, tieFrom * rate, tieGrowth), suspicion }
  }
  const learner = { ...open, phase: 'hold' as const, suspicion: null }
  const pulses = pulsesOf(open)
  const refusedRate = pulses ? pulseRate(pulses) : open.rate
  return withEvidence(learner, evidence, {
    refusedMs: block.sinceMs,
    refusedRate,
    lengthMs,
    resumedAtMs: ok.atMs,
    early: 0,
    leastRate: leastPart * open.rate,
  })
}

/**
 * A request of a pulse was served. Where no refusal will end the search, the first one had another cause: the rate climbs as after any
 * other block.
 */
export function climbByPulses(learner: Learner, pulses: Pulses, ok: Outcome, mostPerSecond: number): Learner {
  const next = servedPulse(pulses, ok)
  if (isSearched(next, mostPerSecond))
    return { ...withMeasuredRate(learner, next.count, searchedGrowth), suspicion: null }
  return { ...learner, rate: next.count, suspicion: { ...learner.suspicion!, pulses: next } }
}

/** Two blocks at one beat are of a window, if it served as many requests the first time. */
function mayBeWindow({ history }: Learner, first: Suspicion, { sinceMs }: Block, lastedMs: number): boolean {
  const survivedMs = sinceMs - first.endedAtMs
  const lengthMs = candidateWindowMs.find(
    (length) => Math.abs(survivedMs + lastedMs - length) <= nearWindow * length,
  )
  if (lengthMs === undefined) return false
  const atFirst = countBetween(history, first.sinceMs - lengthMs, first.sinceMs)
  return atFirst >= asMany * countBetween(history, first.endedAtMs - 1, sinceMs)
}

/** The door opened when it was left alone for once: every call closes it anew. */
export function endRenewedPenalty(open: Learner, block: Block, ok: Outcome): Learner {
  const evidence = [evidenceOf(open.history, block.sinceMs)]
  const learner = { ...open, suspicion: null, notBeforeMs: ok.atMs + knownMs }
  return withEvidence(learner, evidence, {
    refusedMs: block.sinceMs,
    refusedRate: open.rate,
    lengthMs: longestPenaltyMs,
    resumedAtMs: ok.atMs,
    early: 0,
    leastRate: leastPart * open.rate,
  })
}

/** A refusal where a penalty is known: nothing is sent until it has passed. */
export function penalise(learner: Learner, penalty: Penalty, refusal: Outcome): Learner {
  // The door was closed already: the request was under way when it was.
  if (refusal.sentAtMs < penalty.resumedAtMs) return learner
  const firstMs = (1000 * stillClosedIntervals) / learner.rate
  const openMs = Math.min(stillClosedMs, Math.max(leastOpenMs, firstMs))
  const { sentAtMs, grantedAtMs = sentAtMs } = refusal
  const isStillClosed = grantedAtMs - penalty.resumedAtMs < openMs
  const lengthMs = isStillClosed ? 1.5 * penalty.lengthMs : penalty.lengthMs
  // It is something else, then, and is learned anew.
  if (lengthMs > 2 * longestPenaltyMs) return { ...learner, penalty: null }
  const resumedAtMs = refusal.atMs + Math.max(lengthMs, refusal.retryAfterMs ?? 0)
  const wasServed = refusal.sentAtMs - penalty.resumedAtMs > servedMs
  const refusedRate = wasServed && learner.rate <= penalty.ceiling ? unevenPart * learner.rate : learner.rate
  const early = wasServed ? 0 : penalty.early + 1
  const leastRate = leastPart * refusedRate
  const times = { refusedMs: refusal.sentAtMs, refusedRate, lengthMs, resumedAtMs, early, leastRate }
  const refused = isStillClosed
    ? { ...learner, penalty: { ...penalty, lengthMs, resumedAtMs } }
    : withEvidence(
        learner,
        [...penalty.evidence, evidenceOf(learner.history, refusal.sentAtMs)].slice(-mostEvidence),
        times,
      )
  return {
    ...refused,
    notBeforeMs: Math.max(learner.notBeforeMs, resumedAtMs),
    epoch: learner.epoch + 1,
  }
}

/** A request from before the last refusal, or one that overtook it, was served: the more of them were, the higher the limit. */
export function penaliseAgain(learner: Learner, penalty: Penalty, late: Outcome): Learner {
  const { refusedMs, refusedRate, evidence, lengthMs, resumedAtMs, early, leastRate } = penalty
  if (late.sentAtMs > refusedMs + overtakenMs || late.atMs > refusedMs + lateMs) return learner
  const known = [...evidence.slice(0, -1), evidenceOf(learner.history, refusedMs)]
  return withEvidence(learner, known, { refusedMs, refusedRate, lengthMs, resumedAtMs, early, leastRate })
}

function withEvidence(
  learner: Learner,
  evidence: readonly Evidence[],
  refused: Omit<Penalty, 'evidence' | 'growth' | 'ceiling' | 'testAfter'>,
): Learner {
  const choice = choose(evidence, refused.lengthMs, learner.way.variesMs)
  const open = { ...learner, okRun: 0, refusedRun: null }
  const within = (perSecond: number) => Math.min(highest(refused), Math.max(refused.leastRate, perSecond))
  if (choice) {
    const { explained, testAfter } = choice
    const rate = within(choice.perSecond)
    return {
      ...open,
      rate,
      penalty: { ...refused, evidence: explained, growth: 0, ceiling: rate, testAfter },
    }
  }
  const search = {
    growth: unexplainedGrowth,
    ceiling: (1 - margin) * refused.refusedRate,
    testAfter: testAfterMost,
  }
  const rate = within(ofBucket(evidence.at(-1)))
  return { ...open, rate, penalty: { ...refused, evidence, ...search } }
}

/** The chosen rate is below the one that was refused. It may also be no less than a bucket explains. */
function highest({ refusedRate, early }: Pick<Penalty, 'refusedRate' | 'early'>): number {
  const below = margin * earlyTimes ** Math.min(mostEarly, Math.max(0, early - 1))
  return (1 - below) * refusedRate
}

export function climbUnderPenalty(learner: Learner, penalty: Penalty, ok: Outcome): Learner {
  const { testAfter, lengthMs, resumedAtMs, growth, ceiling } = penalty
  const mayTest = ok.sentAtMs - resumedAtMs > testAfter * lengthMs
  const climbed = learner.rate * (1 + (mayTest ? testGrowth : growth) / Math.max(1, learner.rate))
  return { ...learner, rate: mayTest ? climbed : Math.max(learner.rate, Math.min(climbed, ceiling)) }
}
