import type { Flight } from './flight.ts'

/** So many requests are served with all slots taken before the first test. */
const firstTestAfter = 60
/** Two or three slots serve so few requests that each test is a larger part of them. */
const few = { from: 2, to: 3, firstTestAfter: 150 }
/** A test that was refused, or a fall: the next test comes after so many times as many requests. Each is a refusal for nothing. */
const rarer = { afterTest: 3, afterFall: 2 }
const mostTestAfter = 4_000
/** A test without an outcome was not made, or another request ended just then: the next one comes after so many requests. */
const againAfter = 20
/** Few slots serve 4,000 requests in ten minutes, and more of them may be free by then. */
const timed = { mostMs: 90_000, leastServed: 300 }
/** A refusal that pauses everything is dear: a test costs half a percent of the time at most. */
const mostOfTime = 0.005
/** A limit that has just fallen may rise again as soon: it is tested at times that lie apart by this part of the time since it fell. */
const fallen = { forMs: 180_000, part: 1 / 6, leastMs: 5_000, leastServed: 20 }

/** Returns true when one request beyond the limit is to be sent. */
export function mayTest(flight: Flight, atMs: number): boolean {
  const { limit, testedAtMs, servedAtLimit, testAfter, lastTestMs, refusalCostMs, fellMs } = flight
  if (limit === 0 || testedAtMs > 0) return false
  if (servedAtLimit >= testAfter) return true
  const sinceFallMs = fellMs > 0 ? atMs - fellMs : Infinity
  const isLately = sinceFallMs < fallen.forMs && refusalCostMs === 0
  const everyMs = isLately
    ? Math.min(timed.mostMs, Math.max(fallen.leastMs, fallen.part * sinceFallMs))
    : Math.max(timed.mostMs, refusalCostMs / mostOfTime)
  return atMs - lastTestMs >= everyMs && servedAtLimit >= (isLately ? fallen : timed).leastServed
}

/** The requests before the first test of a limit that was just found. */
export function firstTests(limit: number): Pick<Flight, 'testAfter' | 'usualTestAfter'> {
  return { testAfter: leastTestAfter(limit), usualTestAfter: firstTestAfter }
}

export function afterRefusedTest(flight: Flight) {
  return testedLess(flight, rarer.afterTest, leastTestAfter(flight.limit))
}

/** As many requests pass as usual if a refusal pauses everything: the outcome may be one that is told after the pause. */
export function withoutOutcome(flight: Flight): Flight {
  const { servedAtLimit, refusalCostMs, usualTestAfter } = flight
  const after = refusalCostMs > 0 ? usualTestAfter : againAfter
  return { ...flight, testedAtMs: 0, testAfter: servedAtLimit + after }
}

export function afterFall(flight: Flight) {
  return testedLess(flight, rarer.afterFall, firstTestAfter)
}

function testedLess({ usualTestAfter }: Flight, times: number, least: number) {
  const after = Math.min(mostTestAfter, times * Math.max(least, usualTestAfter))
  return { testAfter: after, usualTestAfter: after }
}

function leastTestAfter(limit: number): number {
  return limit >= few.from && limit <= few.to ? few.firstTestAfter : firstTestAfter
}
