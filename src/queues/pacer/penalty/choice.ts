/** The rate that is worth most, between limits that all explain the refusals. */
import { candidates, type Candidate, type Evidence } from './evidence.ts'

/** Even requests at the limit itself are refused now and then: their way varies. */
const margin = 0.015
/** Requests arrive no more evenly than this, in parts of a second. */
const leastUneven = 0.004
/** Less than this in all explains nothing: the limit has changed since the oldest refusal. */
const leastExplained = 0.002
/** Two refusals that no limit explains were off by more than usual: the way to the server varies. */
const unsureTimes = 3
/** A refusal costs what would be served while the door is closed, as a share of so long. */
const worthMs = 180_000
/** Then the next choice is nearly right. */
const afterRefusal = 0.97
/** Rates are tried so far below a limit, by how far that may be off. */
const tried = [0, 0.5, 1, 1.5, 2]
/** A limit that may be higher than the choice by so much is tested sooner. */
const higherBy = 1.08
const mayBeHigher = 0.15
const testAfterSure = 100
const testAfterUnsure = 25

export interface Choice {
  perSecond: number
  explained: readonly Evidence[]
  /** It is tested after so many penalties' time. */
  testAfter: number
}

/** Returns undefined when no limit explains the last two refusals. */
export function choose(evidence: readonly Evidence[], penaltyMs: number, variesMs = 0): Choice | undefined {
  if (evidence.length < 2) return undefined
  const likely = candidates(evidence)
  if (total(likely) >= leastExplained) return chooseOf(likely, evidence, { penaltyMs, variesMs })
  if (evidence.length > 2) return choose(evidence.slice(1), penaltyMs, variesMs)
  const unsure = candidates(evidence, unsureTimes)
  return total(unsure) < leastExplained ? undefined : chooseOf(unsure, evidence, { penaltyMs, variesMs })
}

function chooseOf(
  all: readonly Candidate[],
  evidence: readonly Evidence[],
  { penaltyMs, variesMs }: { penaltyMs: number; variesMs: number },
): Choice {
  const uneven = Math.max(leastUneven, variesMs / 1000)
  const likely = all.map((one) => ({
    ...one,
    off: Math.max(one.off, uneven * one.unevenTimes * one.perSecond),
  }))
  const sum = total(likely)
  const refused = afterRefusal - penaltyMs / worthMs
  const worth = (rate: number) =>
    total(likely.map((one) => ({ ...one, weight: one.weight * worthOf(rate, one, refused) })))
  const rates = likely.flatMap(({ perSecond, off }) => tried.map((by) => (1 - margin) * perSecond - by * off))
  const perSecond = rates.reduce((best, rate) => (worth(rate) > worth(best) ? rate : best))
  const higher = likely.filter((one) => one.perSecond > higherBy * perSecond)
  const testAfter = total(higher) > mayBeHigher * sum ? testAfterUnsure : testAfterSure
  return { perSecond, explained: evidence, testAfter }
}

/** Returns the use of the limit at a rate, with the chance that it is refused. */
function worthOf(rate: number, { perSecond, off }: Candidate, refused: number): number {
  const served = 1 / (1 + Math.exp((-1.7 * ((1 - margin / 2) * perSecond - rate)) / off))
  return served * Math.min(1, rate / perSecond) + (1 - served) * refused
}

const total = (all: readonly Candidate[]) => all.reduce((sum, { weight }) => sum + weight, 0)
