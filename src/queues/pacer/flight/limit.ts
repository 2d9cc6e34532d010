/**
 * A limit on requests under way, learned as a pure function of the answers.
 *
 * Such a limit is not assumed until refusals show it: with so many under way, nearly every request is refused, and with fewer,
 * none. Under a rate, requests are refused whatever is under way. The pacer then keeps to the limit and lets the rate rise. When
 * refusals come with fewer under way all the same, it was not the limit, and it is given up.
 *
 * A limit that is in use is tested with a single request beyond it, more rarely after each test that was refused.
 */
import { limitShown, mayShowLimit, sum, type Counts } from './counts.ts'
import { noSightings, sight, type Judged, type Sightings } from './sightings.ts'

type Beside = readonly [others: number, surelyOthers: number]

export interface Flight extends Counts {
  /** Requests that may be under way at once; 0: no such limit is known. */
  limit: number
  /** The limit has held while it was in use. */
  isSure: boolean
  /** The limit that refusals showed at first, and when. */
  foundAs: number
  foundMs: number
  /** The number of the last test: one request beyond the limit. */
  test: number
  /** Since when its outcome is awaited; 0: none is under way. */
  testedAtMs: number
  passedTests: number
  /** Requests to be served at the limit before the next test: few after one that was served, else as many as `usualTestAfter`. */
  testAfter: number
  usualTestAfter: number
  /** When tests have raised it; 0 once it has held. The next refusal of a last slot lowers it again. */
  raisedAtMs: number
  servedAtLimit: number
  /** Requests refused at the limit and below it, of late. */
  refusedAtLimit: number
  refusedBelow: number
  sightings: Sightings
  /** The counts are of a time in which the limit changes: only what was served directly before a refusal. */
  isCompared: boolean
  /** Both numbers of the latest requests served while the limit changes: a refusal is compared with those directly before it. */
  latest: readonly Beside[]
  /** When the last request was sent whose refusal counts as one of its own. */
  lastRefusedMs: number
}

export const unlimited: Flight = {
  limit: 0,
  isSure: false,
  foundAs: 0,
  foundMs: 0,
  test: 0,
  testedAtMs: 0,
  passedTests: 0,
  testAfter: 0,
  usualTestAfter: 0,
  raisedAtMs: 0,
  servedAtLimit: 0,
  refusedAtLimit: 0,
  refusedBelow: 0,
  givenUp: 0,
  sightings: noSightings,
  served: [],
  surelyServed: [],
  refused: [],
  isCompared: false,
  latest: [],
  lastRefusedMs: 0,
}

/** A larger limit is not told from a rate. */
const mostLimit = 48
/** A bucket that is empty, or a window that is used up, refuses for so long. */
const momentMs = 250
/** While the limit changes, each refusal is compared with so many requests served directly before it. */
const mostLatest = 10
/** More would be old news. */
const mostSamples = 4_000

const firstTestAfter = 60
/** Two or three slots serve so few requests that each test is a larger part of them. */
const few = { from: 2, to: 3, firstTestAfter: 150 }
/** A test that was refused, or a fall: the next test comes after so many times as many requests. Each is a refusal for nothing. */
const rarer = { afterTest: 3, afterFall: 2 }
const mostTestAfter = 4_000
const testsToPass = 3
const testTimeoutMs = 4_000
const refusalsToLower = 3
const refusalsForgottenAfter = 300
const refusalsToGiveUp = 3
/** A limit that falls by half so soon is taken for none: a rate refuses whatever is under way, and brings it down further. */
const sinks = { withinMs: 60_000, fromLeast: 4 }
const servedToBeSure = 100
const servedToHold = 40

export interface FlightAnswer {
  sentMs: number
  atMs: number
  isServed: boolean
  /** It took the last slot of its process. */
  isFull?: boolean | undefined
  /** The limit changes, and the rate rises until it is refused. */
  isRestless?: boolean | undefined
}

export function learnFlight(before: Flight, answer: FlightAnswer): Flight {
  const { sightings, judged } = sight(before.sightings, answer)
  let flight: Flight = { ...before, sightings }
  const { raisedAtMs } = flight
  if (raisedAtMs > 0 && !answer.isServed && answer.isFull && answer.sentMs > raisedAtMs)
    flight = lowered(flight, answer.sentMs)
  for (const each of judged)
    flight = flight.limit > 0 ? follow(flight, each) : suspect(flight, each, answer.isRestless === true)
  if (flight.testedAtMs > 0 && answer.atMs - flight.testedAtMs > testTimeoutMs) {
    flight = { ...flight, testedAtMs: 0, servedAtLimit: 0 }
  }
  const mayTest = flight.limit > 0 && flight.testedAtMs === 0 && flight.servedAtLimit >= flight.testAfter
  return mayTest ? { ...flight, test: flight.test + 1, testedAtMs: answer.atMs } : flight
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

/** The clock was set back: its times are yet to come, and a test of then would never end. */
export function onNewClock(flight: Flight): Flight {
  return { ...flight, foundMs: 0, testedAtMs: 0, raisedAtMs: 0, lastRefusedMs: 0 }
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
    testAfter: leastTestAfter(limit),
    usualTestAfter: firstTestAfter,
    ...noCounts,
  }
}

const noCounts = { served: [], surelyServed: [], refused: [], latest: [] }

const settled = {
  raisedAtMs: 0,
  testedAtMs: 0,
  passedTests: 0,
  servedAtLimit: 0,
  refusedAtLimit: 0,
  refusedBelow: 0,
}

function follow(flight: Flight, { sentMs, isServed, others, surelyOthers }: Judged): Flight {
  const { limit } = flight
  if (isServed && surelyOthers >= limit) return servedBeyond(flight, sentMs)
  if (!isServed && others >= limit) return refusedBeyond(flight, sentMs)
  // The place of another may have been free already: the test has told nothing, and is made again.
  const isUnclear = others >= limit && flight.testedAtMs > 0 && sentMs >= flight.testedAtMs
  if (isUnclear) return { ...flight, testedAtMs: 0, servedAtLimit: flight.testAfter }
  if (others >= limit - 1) return isServed ? servedAt(flight) : refusedAt(flight, sentMs)
  if (isServed || flight.isSure) return flight
  const refusedBelow = flight.refusedBelow + 1
  if (refusedBelow < refusalsToGiveUp) return { ...flight, refusedBelow }
  return givenUp(flight)
}

function givenUp(flight: Flight): Flight {
  return { ...flight, ...settled, limit: 0, givenUp: flight.givenUp + 1 }
}

function servedAt(flight: Flight): Flight {
  const servedAtLimit = flight.servedAtLimit + 1
  return {
    ...flight,
    servedAtLimit,
    raisedAtMs: servedAtLimit < servedToHold ? flight.raisedAtMs : 0,
    isSure: flight.isSure || servedAtLimit >= servedToBeSure,
    refusedAtLimit: servedAtLimit % refusalsForgottenAfter === 0 ? 0 : flight.refusedAtLimit,
  }
}

function refusedAt(flight: Flight, sentMs: number): Flight {
  const refusedAtLimit = flight.refusedAtLimit + 1
  if (refusedAtLimit < refusalsToLower) return { ...flight, refusedAtLimit }
  return lowered(flight, sentMs)
}

function lowered(flight: Flight, sentMs: number): Flight {
  // Requests were refused that were alone: that is no limit on those under way.
  if (flight.limit === 1 || hasSunk(flight, sentMs)) return givenUp(flight)
  return { ...flight, ...settled, limit: flight.limit - 1, ...testedLess(flight, rarer.afterFall) }
}

function hasSunk({ limit, foundAs, foundMs }: Flight, sentMs: number): boolean {
  const isSoon = sentMs - foundMs < sinks.withinMs
  return isSoon && foundAs >= sinks.fromLeast && limit - 1 <= foundAs / 2
}

/** Requests beyond the limit that were sent before the test tell nothing: the shares of the processes were changing. */
function servedBeyond(flight: Flight, sentMs: number): Flight {
  if (flight.testedAtMs === 0 || sentMs < flight.testedAtMs) return flight
  const passedTests = flight.passedTests + 1
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
    ...testedLess(flight, rarer.afterTest, leastTestAfter(flight.limit)),
  }
}

function leastTestAfter(limit: number): number {
  return limit >= few.from && limit <= few.to ? few.firstTestAfter : firstTestAfter
}

function testedLess({ usualTestAfter }: Flight, times: number, least = firstTestAfter) {
  const after = Math.min(mostTestAfter, times * Math.max(least, usualTestAfter))
  return { testAfter: after, usualTestAfter: after }
}
