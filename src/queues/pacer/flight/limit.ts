/**
 * A limit on requests under way, learned as a pure function of the answers.
 *
 * Such a limit is not assumed until refusals show it: with so many under way, nearly every request is refused, and with fewer,
 * none. Under a rate, requests are refused whatever is under way. The pacer then keeps to the limit and lets the rate rise. When
 * refusals come with fewer under way all the same, it was not the limit, and it is given up.
 *
 * A limit that is in use is tested with a single request beyond it, more rarely after each test that was refused.
 */
import { limitShown, mayShowLimit, sum } from './counts.ts'
import { inUse, noCounts, settled, type Beside, type Flight } from './flight.ts'
import { sight, type Judged } from './sightings.ts'
import { afterFall, afterRefusedTest, firstTests, mayTest, withoutOutcome } from './test-schedule.ts'

/** A larger limit is not told from a rate. */
const mostLimit = 48
/** A bucket that is empty, or a window that is used up, refuses for so long. */
const momentMs = 250
/** While the limit changes, each refusal is compared with so many requests served directly before it. */
const mostLatest = 10
/** More would be old news. */
const mostSamples = 4_000

const testsToPass = 3
/** Tests of many slots with fast answers are unclear, most of them. Under a limit that has not risen, some of twelve are refused. */
const unclearTest = 1 / 4
const testTimeoutMs = 4_000
const refusalsToLower = 3
const refusalsForgottenAfter = 300
const refusalsToGiveUp = 3
/** A limit that falls by half so soon is taken for none: a rate refuses whatever is under way, and brings it down further. */
const sinks = { withinMs: 60_000, fromLeast: 4 }
/** A limit that has fallen so lately may be in turns: it is left to the rate, which follows sooner, unless it stays unused for as long. */
const inTurns = { fellWithinMs: 600_000, unusedForMs: 120_000 }
const servedToBeSure = 100
const servedToHold = 40

export interface FlightAnswer {
  sentMs: number
  atMs: number
  isServed: boolean
  /** The pause that its refusal announced. */
  pausesMs?: number | undefined
  /** It took the last slot of its process. */
  isFull?: boolean | undefined
  /** The limit changes, and the rate rises until it is refused. */
  isRestless?: boolean | undefined
}

export function learnFlight(before: Flight, answer: FlightAnswer): Flight {
  const { sightings, judged } = sight(before.sightings, answer)
  let flight: Flight = { ...before, sightings }
  const { raisedAtMs } = flight
  // While the next number is tested, the refusal may be the test's own, which says nothing of this one.
  const isTesting = flight.testedAtMs > 0 && answer.sentMs >= flight.testedAtMs
  if (raisedAtMs > 0 && !answer.isServed && answer.isFull && answer.sentMs > raisedAtMs && !isTesting)
    flight = lowered(flight, answer.sentMs)
  for (const each of judged)
    flight = flight.limit > 0 ? follow(flight, each) : suspect(flight, each, answer.isRestless === true)
  if (flight.testedAtMs > 0 && answer.atMs - flight.testedAtMs > testTimeoutMs)
    flight = withoutOutcome(flight)
  if (!answer.isServed) flight = { ...flight, refusalCostMs: answer.pausesMs ?? 0 }
  if (flight.limit > 0 && flight.lastTestMs === 0) flight = { ...flight, lastTestMs: answer.atMs }
  return mayTest(flight, answer.atMs)
    ? { ...flight, test: flight.test + 1, testedAtMs: answer.atMs, lastTestMs: answer.atMs }
    : flight
}

/**
 * While the rate rises until it is refused, refused requests have more beside them than others under any limit, and hardly more than
 * those directly before them. Under a limit on requests under way these have fewer, too.
 */
function suspect(before: Flight, each: Judged, isRestless: boolean): Flight {
  if (each.others > mostLimit) return before
  // Before a limit rose there was less under way whatever the limit: the two are never counted together.
  const flight =
    before.isCompared === isRestless ? before : { ...before, ...noCounts, isCompared: isRestless }
  if (!each.isServed) return suspectAfter(flight, each)
  const beside: Beside = [each.others, each.surelyOthers]
  return isRestless
    ? { ...flight, latest: [...flight.latest.slice(1 - mostLatest), beside] }
    : withServed(flight, [beside])
}

function withServed(flight: Flight, requests: readonly Beside[]): Flight {
  let { served, surelyServed } = flight
  for (const [others, surelyOthers] of requests) {
    served = counted(served, others)
    surelyServed = counted(surelyServed, surelyOthers)
  }
  return { ...flight, served, surelyServed }
}

function suspectAfter(flight: Flight, { sentMs, others }: Judged): Flight {
  // Refusals of one moment are one piece of news, but for those that came with fewer under way.
  const isOwn = sentMs - flight.lastRefusedMs > Math.max(momentMs, flight.sightings.longestMs)
  const fewest = flight.refused.findIndex((count) => count > 0)
  if (!isOwn && others >= fewest) return flight
  const compared = withServed({ ...flight, latest: [] }, flight.latest)
  const next = { ...compared, refused: counted(flight.refused, others), lastRefusedMs: sentMs }
  const limit = limitShown(next)
  return limit > 0 ? limitedTo(next, limit, sentMs) : recent(next)
}

function counted(counts: readonly number[], others: number): number[] {
  return Array.from(
    { length: Math.max(counts.length, others + 1) },
    (_, n) => (counts[n] ?? 0) + (n === others ? 1 : 0),
  )
}

function recent(flight: Flight): Flight {
  if (sum(flight.served) < mostSamples) return flight
  const halve = (counts: readonly number[]) => counts.map((count) => count / 2)
  const { served, surelyServed, refused } = flight
  return { ...flight, served: halve(served), surelyServed: halve(surelyServed), refused: halve(refused) }
}

/** Such a limit is known, and the refusals are its own, or more refusals are needed to tell it from a rate. */
export function mayBeLimited(flight: Flight): boolean {
  return flight.limit > 0 || mayShowLimit(flight)
}

function limitedTo(flight: Flight, limit: number, foundMs: number): Flight {
  return {
    ...flight,
    ...settled,
    limit,
    isSure: false,
    foundAs: limit,
    foundMs,
    ...firstTests(limit),
  }
}

function follow(flight: Flight, judged: Judged): Flight {
  const { sentMs, isServed, others, surelyOthers } = judged
  const { limit } = flight
  if (isServed && surelyOthers >= limit) return servedBeyond(flight, sentMs)
  // The place of another may have been free already: then a test that was served has told little, and is made again.
  const isTesting = flight.testedAtMs > 0 && sentMs >= flight.testedAtMs
  if (!isServed && others >= (isTesting ? limit - 1 : limit)) return refusedBeyond(flight, sentMs)
  if (isTesting && others >= limit) return servedBeyond(flight, sentMs, unclearTest)
  if (others >= limit - 1) return isServed ? servedAt(flight) : refusedAt(flight, sentMs)
  if (flight.isSure) return suspectFall(flight, judged)
  if (isServed) return flight
  const refusedBelow = flight.refusedBelow + 1
  if (refusedBelow < refusalsToGiveUp) return { ...flight, refusedBelow }
  return givenUp(flight)
}

function givenUp(flight: Flight): Flight {
  return { ...flight, ...settled, limit: 0, fellMs: 0, givenUp: flight.givenUp + 1 }
}

function servedAt(flight: Flight): Flight {
  const servedAtLimit = flight.servedAtLimit + 1
  return {
    ...flight,
    ...(flight.unusedSinceMs > 0 && inUse),
    servedAtLimit,
    raisedAtMs: servedAtLimit < servedToHold ? flight.raisedAtMs : 0,
    isSure: flight.isSure || servedAtLimit >= servedToBeSure,
    refusedAtLimit: servedAtLimit % refusalsForgottenAfter === 0 ? 0 : flight.refusedAtLimit,
  }
}

/**
 * Requests are refused with fewer under way, and none is served with all slots taken any more: the rate has fallen, or the limit has.
 * The same evidence tells them apart as when no limit is known.
 */
function suspectFall(flight: Flight, judged: Judged): Flight {
  const { isServed, sentMs } = judged
  if (flight.unusedSinceMs === 0 && isServed) return flight
  const unusedSinceMs = flight.unusedSinceMs || sentMs
  const isInTurns = flight.fellMs > 0 && sentMs - flight.fellMs < inTurns.fellWithinMs
  if (isInTurns && sentMs - unusedSinceMs < inTurns.unusedForMs) return { ...flight, unusedSinceMs }
  const next = suspect({ ...flight, unusedSinceMs }, judged, true)
  return next.limit < flight.limit ? { ...next, fellMs: sentMs, lastTestMs: sentMs } : next
}

function refusedAt(flight: Flight, sentMs: number): Flight {
  const refusedAtLimit = flight.refusedAtLimit + 1
  if (refusedAtLimit < refusalsToLower) return { ...flight, refusedAtLimit }
  return lowered(flight, sentMs)
}

function lowered(flight: Flight, sentMs: number): Flight {
  // Requests were refused that were alone: that is no limit on those under way.
  if (flight.limit === 1 || hasSunk(flight, sentMs)) return givenUp(flight)
  return { ...flight, ...settled, limit: flight.limit - 1, ...afterFall(flight) }
}

function hasSunk({ limit, foundAs, foundMs }: Flight, sentMs: number): boolean {
  const isSoon = sentMs - foundMs < sinks.withinMs
  return isSoon && foundAs >= sinks.fromLeast && limit - 1 <= foundAs / 2
}

/** Requests beyond the limit that were sent before the test tell nothing: the shares of the processes were changing. */
function servedBeyond(flight: Flight, sentMs: number, weight = 1): Flight {
  if (flight.testedAtMs === 0 || sentMs < flight.testedAtMs) return flight
  const passedTests = flight.passedTests + weight
  if (passedTests < testsToPass)
    return { ...flight, passedTests, testedAtMs: 0, servedAtLimit: flight.testAfter }
  const limit = flight.limit + 1
  if (limit > mostLimit) return { ...flight, ...settled, limit: 0 }
  return { ...flight, ...settled, limit, testAfter: limit, raisedAtMs: flight.testedAtMs }
}

function refusedBeyond(flight: Flight, sentMs: number): Flight {
  if (flight.testedAtMs === 0 || sentMs < flight.testedAtMs) return flight
  return {
    ...flight,
    ...settled,
    isSure: true,
    ...afterRefusedTest(flight),
  }
}
