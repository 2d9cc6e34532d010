import { describe, expect, test } from 'vitest'
import { seeded } from '../simulation.ts'
import { unlimited, type Flight } from './flight.ts'
import { learnFlight, type FlightAnswer } from './limit.ts'

const start = 1_800_000_000_000

/**
 * A service whose answers take 100 ms, give or take 20, and requests that come on average every `everyMs`. `isRefused` is told how
 * many are at the service.
 */
function answers(
  count: number,
  everyMs: number,
  isRefused: (atServer: number, random: () => number) => boolean,
  { seed = 1, mayHave = Infinity, fromMs = start } = {},
): FlightAnswer[] {
  const random = seeded(seed)
  const ends: number[] = []
  const all: FlightAnswer[] = []
  let sentMs = fromMs
  for (let request = 0; request < count; request += 1) {
    sentMs += everyMs * (0.5 + random())
    const busy = () => ends.filter((endMs) => endMs > sentMs)
    if (busy().length >= mayHave) sentMs = Math.min(...busy())
    const isServed = !isRefused(busy().length, random)
    const atMs = sentMs + (isServed ? 80 + 40 * random() : 1)
    if (isServed) ends.push(atMs)
    all.push({ sentMs, atMs, isServed })
  }
  return all.sort((a, b) => a.atMs - b.atMs)
}

/**
 * A rate that rises by twice a second until it is refused, pauses, and rises again: the pacer while a limit changes. `isRefused` is
 * told how many are at the service, and how many it has served since the rise began.
 */
function rises(count: number, isRefused: (atServer: number, served: number) => boolean, seed: number) {
  const random = seeded(seed)
  const all: FlightAnswer[] = []
  for (let rise = 0, fromMs = start; rise < count; rise += 1, fromMs += 5_000) {
    const ends: number[] = []
    let sentMs = fromMs
    for (let isOver = false; !isOver;) {
      sentMs += ((100 - 50 * random()) * 0.5) / 2 ** ((sentMs - fromMs) / 1_000)
      isOver = isRefused(ends.filter((endMs) => endMs > sentMs).length, ends.length)
      const atMs = sentMs + (isOver ? 1 : 80 + 40 * random())
      if (!isOver) ends.push(atMs)
      all.push({ sentMs, atMs, isServed: !isOver, isRestless: true })
    }
  }
  return all.sort((a, b) => a.atMs - b.atMs)
}

const learnAll = (from: Flight, all: FlightAnswer[]) => all.reduce(learnFlight, from)

describe('a limit on requests under way', () => {
  test('of one is none where requests are refused that were alone', () => {
    const found: Flight = { ...unlimited, limit: 1 }
    const refusals = (part: number) => answers(400, 200, (_, random) => random() < part)
    expect(learnAll(found, refusals(0.1)).limit).toBe(0)
    expect(learnAll(found, refusals(0)).limit).toBeGreaterThan(0)
  })

  test.each([2, 5, 9, 20])('%i at once is found by a few refusals, to within one', (limit) => {
    let flight = unlimited
    for (const answer of answers(1_500, 100 / (0.9 * limit), (atServer) => atServer >= limit)) {
      flight = learnFlight(flight, answer)
      if (flight.limit > 0) break
    }
    expect(limit - flight.limit).toBeOneOf([0, 1])
  })

  test.each([
    ['refusals that come whatever is under way', (_: number, random: () => number) => random() < 0.02],
    ['refusals of half the requests', (_: number, random: () => number) => random() < 0.5],
    ['no refusals', () => false],
  ])('is not seen in %s', (_, isRefused) => {
    for (let seed = 1; seed <= 10; seed += 1) {
      let flight = unlimited
      for (const answer of answers(3_000, 15, isRefused, { seed })) {
        flight = learnFlight(flight, answer)
        expect(flight.limit).toBe(0)
      }
    }
  })

  test.each([4, 6, 12])('%i at once is found while the rate rises until it is refused', (limit) => {
    let flight = unlimited
    let refused = 0
    for (const answer of rises(20, (atServer) => atServer >= limit, 1)) {
      if (!answer.isServed) refused += 1
      flight = learnFlight(flight, answer)
      if (flight.limit > 0) break
    }
    expect(limit - flight.limit).toBeOneOf([0, 1])
    expect(refused).toBeLessThan(10)
  })

  test('is not seen where a rate rises to a level that changes', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = seeded(100 + seed)
      let level = 40
      const isRefused = (_: number, served: number) => {
        if (served === 0) level = 20 + 40 * random()
        return served >= level
      }
      let flight = unlimited
      for (const answer of rises(100, isRefused, seed)) {
        flight = learnFlight(flight, answer)
        expect(flight.limit).toBe(0)
      }
    }
  })

  test('is not seen in the refusals of one moment, however many they are', () => {
    let flight = unlimited
    // A rate that has risen to a bucket's end: what is refused there has the most beside it.
    for (const answer of answers(300, 100, () => false)) flight = learnFlight(flight, answer)
    const fromMs = start + 31_000
    for (const answer of answers(40, 20, (_, random) => random() < 0.3, { fromMs }).filter(
      ({ sentMs }) => sentMs < fromMs + 240,
    ))
      flight = learnFlight(flight, answer)
    for (const answer of answers(40, 100, () => false, { fromMs: fromMs + 1_000 }))
      flight = learnFlight(flight, answer)
    expect(flight.limit).toBe(0)
  })

  test('is given up when refusals come with fewer under way, and is then harder to see', () => {
    const wrong = { ...unlimited, limit: 8 }
    const flight = learnAll(
      wrong,
      answers(400, 20, (_, random) => random() < 0.03),
    )
    expect(flight).toMatchObject({ limit: 0, givenUp: 1 })
  })

  test('that has fallen is followed down, and stays there', () => {
    const known = { ...unlimited, limit: 8, isSure: true, testAfter: 60, usualTestAfter: 60 }
    const flight = learnAll(
      known,
      answers(60, 10, (atServer) => atServer >= 7, { mayHave: 8 }),
    )
    expect(flight.limit).toBe(7)
    expect(flight.testAfter).toBeGreaterThan(60)
  })

  test('that falls by half soon after it was found was none: a rate refuses whatever is under way', () => {
    const fallen = (foundMs: number) => {
      let flight: Flight = { ...unlimited, limit: 8, isSure: true, foundAs: 8, foundMs }
      for (let fromMs = start; flight.limit > 4 && fromMs < start + 40_000; fromMs += 1_000) {
        const byRate = (_: number, random: () => number) => random() < 0.15
        const next = answers(40, 10, byRate, { mayHave: flight.limit, fromMs, seed: fromMs })
        flight = learnAll(flight, next)
      }
      return flight
    }
    expect(fallen(start - 5_000)).toMatchObject({ limit: 0, givenUp: 1 })
    expect(fallen(start - 61_000)).toMatchObject({ limit: 4, givenUp: 0 })
  })

  // A fall to half or less means that there was no limit, but only from four on: two or three may really fall to one.
  test('of two or three that falls to one is followed, however soon', () => {
    for (const limit of [2, 3]) {
      let flight: Flight = { ...unlimited, limit, isSure: true, foundAs: limit, foundMs: start - 5_000 }
      for (let fromMs = start; flight.limit > 1 && fromMs < start + 40_000; fromMs += 1_000) {
        const oneFewer = flight.limit - 1
        const next = answers(40, 10, (atServer) => atServer >= oneFewer, { mayHave: flight.limit, fromMs })
        flight = learnAll(flight, next)
      }
      expect(flight).toMatchObject({ limit: 1, givenUp: 0 })
    }
  })

  test('is tested with one request beyond it: three that are served raise it', () => {
    let flight: Flight = { ...unlimited, limit: 4, isSure: true, testAfter: 20, usualTestAfter: 60 }
    for (let round = 0, fromMs = start; flight.limit < 6 && round < 50; round += 1, fromMs += 2_000) {
      const mayHave = flight.limit + (flight.testedAtMs > 0 ? 1 : 0)
      flight = learnAll(
        flight,
        answers(60, 1, (atServer) => atServer >= 6, { mayHave, fromMs, seed: round + 1 }),
      )
    }
    expect(flight.limit).toBe(6)
  })

  test('is tested ever more rarely while the tests are refused', () => {
    let flight: Flight = {
      ...unlimited,
      limit: 4,
      isSure: true,
      testAfter: 20,
      usualTestAfter: 60,
      testedAtMs: start,
    }
    const refused = answers(40, 10, (atServer) => atServer >= 4, { mayHave: 5, fromMs: start })
    for (const answer of refused) flight = learnFlight(flight, answer)
    expect(flight.limit).toBe(4)
    expect(flight.testAfter).toBe(180)
  })

  test.each([
    ['soon', 0, 5_500],
    ['as late as after another, where a refusal pauses everything', 5_000, 70_000],
  ])('is tested again where a test had no outcome, %s', (_, refusalCostMs, untilMs) => {
    const known = { ...unlimited, limit: 3, isSure: true, lastTestMs: start, refusalCostMs }
    const tested = { ...known, test: 7, testedAtMs: start + 1, testAfter: 1_000, usualTestAfter: 1_000 }
    let flight: Flight = tested
    const all = answers(2_000, 40, (atServer) => atServer >= 3, { mayHave: 3 })
    const again = all.find((answer) => {
      flight = learnFlight(flight, answer)
      return flight.test > 7
    })
    expect(again!.atMs - start).toBeGreaterThan(4_000)
    expect(again!.atMs - start).toBeLessThan(untilMs)
    if (refusalCostMs > 0) expect(again!.atMs - start).toBeGreaterThan(30_000)
  })

  test('of which a test is refused as another request ends is tested as rarely as after any other', () => {
    const tested: Flight = { ...unlimited, limit: 3, isSure: true, testAfter: 60, usualTestAfter: 60 }
    const underWay = [0, 10].map((at) => ({ sentMs: start + at, atMs: start + at + 100, isServed: true }))
    const test: FlightAnswer = { sentMs: start + 50, atMs: start + 52, isServed: false }
    const later = { sentMs: start + 400, atMs: start + 500, isServed: true }
    const before = { sentMs: start - 500, atMs: start - 400, isServed: true }
    let flight = learnFlight(tested, before)
    flight = { ...flight, test: 2, testedAtMs: start + 40 }
    flight = learnAll(flight, [test, ...underWay, later, { ...later, atMs: start + 900 }])
    expect(flight).toMatchObject({ testedAtMs: 0, refusedAtLimit: 0, testAfter: 450 })
  })

  test('that was raised wrongly is lowered by the next refusal of a last slot', () => {
    const raised = {
      ...unlimited,
      limit: 5,
      isSure: true,
      testAfter: 5,
      usualTestAfter: 60,
      raisedAtMs: start,
    }
    const refused = { sentMs: start + 10, atMs: start + 11, isServed: false }
    expect(learnFlight(raised, refused).limit).toBe(5)
    expect(learnFlight(raised, { ...refused, isFull: true })).toMatchObject({ limit: 4, testAfter: 120 })
  })

  test('keeps a slot that tests have found when the next one is refused', () => {
    const raised: Flight = {
      ...unlimited,
      limit: 5,
      isSure: true,
      raisedAtMs: start,
      testedAtMs: start + 1_000,
      lastTestMs: start + 1_000,
      testAfter: 5,
      usualTestAfter: 540,
    }
    const refused = { sentMs: start + 1_010, atMs: start + 1_011, isServed: false, isFull: true }
    expect(learnFlight(raised, refused).limit).toBe(5)
    expect(learnFlight(raised, { ...refused, sentMs: start + 990 }).limit).toBe(4)
  })

  test('is tested a minute and a half after an upgrade, though the version before noted no time', () => {
    let flight: Flight = { ...unlimited, limit: 2, isSure: true, testAfter: 4_000, usualTestAfter: 4_000 }
    const all = answers(2_400, 10, () => false, { mayHave: 2 })
    const tested = all.find((answer) => (flight = learnFlight(flight, answer)).test > 0)
    const afterMs = (tested?.atMs ?? Infinity) - all[0]!.atMs
    expect([afterMs >= 90_000, afterMs < 91_000]).toEqual([true, true])
  })
})
