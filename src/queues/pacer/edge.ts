/** Edges: the places where a limit was met, and what two of them tell about the rate. */
import type { Edge, Learner } from './learner.ts'
import { isRestless, isSearched } from './level/unrest.ts'

/** Below it, one request of a second is a twentieth and more. */
export const lowRate = 20
/** A rate that is refused so little above a whole number is taken for that, a little less, and is so sure. */
const wholeWithin = 0.02
const belowWhole = 0.997
const wholeSure = 0.3
/** It is not where so many requests more than that were served since the last refusal. */
const mostBeyond = 1.2
/** A refusal is too soon when so many were expected by then. */
const soonPart = 4
/** A step goes by a little more than the share refused, less where the rate is surer, and by so much at most. */
const stepPart = 1.2
const mostStep = 0.25
const sameEdgeMs = 200

/** Returns the rate after a refusal where the limit was met, and how sure it is. `next` is the edge if the refusal is news. */
export function meetEdge(
  learner: Learner,
  lowered: number,
  sentMs: number,
  next: Edge | undefined,
): Pick<Learner, 'rate' | 'sureness'> {
  const surer = !next && isOfSeconds(learner) ? learner.sureness : surenessAfterEdge(learner, sentMs)
  if (!next) return { rate: lowered, sureness: surer }
  const rate = Math.min(lowered, rateAfterEdge(learner, sentMs))
  const isSearching = learner.phase === 'hold' && learner.sureness < 1 && isOfSeconds(learner)
  const whole = isSearching ? wholeBelow(rate, learner) : rate
  return { rate: whole, sureness: whole < rate ? Math.max(surer, wholeSure) : surer }
}

/** A refusal where it was expected makes the rate surer. A refusal after a probe had risen does not, nor one that comes too soon. */
export function surenessAfterEdge(learner: Learner, sentMs: number): number {
  const { sureness, phase, rate, probeFrom } = learner
  const rose = phase === 'probe' && (probeFrom === null || rate > 1.25 * probeFrom)
  return rose || mayStep(learner, sentMs) ? sureness : Math.min(1, 2 * sureness)
}

/**
 * Above a limit, the share of requests that is refused is the share by which the rate is too high. Two edges tell it, and while
 * the limit is searched for, the rate goes there in one step: by small ones, it took twenty refusals.
 */
function rateAfterEdge(learner: Learner, sentMs: number): number {
  const { rate, edge, sureness, unrest } = learner
  if (!edge || !mayStep(learner, sentMs, 0)) return rate
  const step = Math.min(mostStep, (stepPart - sureness) * shareRefused(learner, sentMs))
  // A level that has been known for a while is believed: a part of a neighbour's turn is not taken for the limit.
  const known = edge.isAfterRise && !isSearched(unrest, learner.lastAtMs) ? Math.min(rate, unrest.level) : 0
  return Math.max(known, rate * (1 - step))
}

/**
 * A limit of a few requests a second is mostly a whole number of them. A rate that is refused a hundredth above one is taken for
 * that: by small steps, each of which is a refusal, it took three more.
 */
function wholeBelow(rate: number, before: Pick<Learner, 'rate' | 'okRun'>): number {
  const whole = Math.floor(rate)
  const beyond = before.okRun * (before.rate / whole - 1)
  if (rate >= lowRate || rate >= whole * (1 + wholeWithin) || beyond > mostBeyond) return rate
  return Math.min(rate, whole * belowWhole)
}

function mayStep(learner: Learner, sentMs: number, soon = soonPart): boolean {
  const { edge, phase, sureness, unrest, lastAtMs } = learner
  if (phase !== 'hold' || !edge || !isOfSeconds(learner) || sureness >= 1) return false
  if (isRestless(unrest, lastAtMs)) return false
  const isSearch = edge.isAfterRise || isSearched(unrest, lastAtMs)
  return isSearch && shareRefused(learner, sentMs) * learner.okPerRefusal > soon
}

/** No longer window is known. */
export function isOfSeconds({ sliding, windows }: Learner): boolean {
  return !sliding && windows.length === 0
}

/** Answers come late, so requests that were sent are counted by the rate where that is more. */
function shareRefused({ edge, totals, rate }: Learner, sentMs: number): number {
  if (!edge) return 0
  const refused = totals.limited - 1 - edge.limited
  return refused / Math.max(1, totals.ok - edge.ok + refused, ((sentMs - edge.sentMs) / 1000) * rate)
}

export function nextEdge(learner: Learner, sentMs: number): Edge | undefined {
  const { edge, refusedRun, phase, totals } = learner
  if ((refusedRun?.adjacent ?? 1) > 1 || (edge && sentMs - edge.sentMs < sameEdgeMs)) return undefined
  const isOnItsWay =
    edge?.isAfterRise === true && shareRefused(learner, sentMs) * learner.okPerRefusal > soonPart
  const isAfterRise = phase === 'probe' || isOnItsWay
  return { sentMs, ok: totals.ok, limited: totals.limited - 1, isAfterRise }
}
