import { describe, expect, it } from 'vitest'
import { sized } from '../../../../test/support/full-size.ts'
import { addSuccess, type Checkpoint } from '../history.ts'
import { defaultLearnerSettings, newLearner, type Pulses } from '../learner.ts'
import {
  fixedWindow,
  seeded,
  simulate,
  slidingWindow,
  tokenBucket,
  type HiddenLimit,
  type LimitKind,
} from '../simulation.ts'
import { evenlySpaced, withPenalty } from '../shapes.ts'
import { percent, show } from '../simulation.fixture.ts'
import { evidenceOf } from './evidence.ts'
import { isSearched, pulsePace, pulsesAfter, pulsesOf, servedPulse, withinBound } from './pulses.ts'

const aSecond = (rate: number): LimitKind => ({ limitAt: () => rate, windowMs: 1_000 })

/** A ramp that doubles each half second, until it is refused. */
function ramp(limit: number, seed: number) {
  const phaseMs = 1_000 * seeded(seed)()
  return { evidence: rampTo(fixedWindow(aSecond(limit), seeded(seed))), phaseMs }
}

function rampTo(admits: HiddenLimit) {
  let history: Checkpoint[] = []
  let atMs = 100_000
  for (let rate = 5; ; rate *= 1 + Math.log(4) / rate) {
    atMs += 1_000 / rate
    if (!admits(atMs)) return evidenceOf(history, atMs)
    history = addSuccess(history, atMs, { isFine: true })
  }
}

describe('pulses after a first refusal', () => {
  it.each([10, 20, 45, 60])('lie within the window of %i a second that has refused', (limit) => {
    for (let seed = 1; seed <= 40; seed++) {
      const { evidence, phaseMs } = ramp(limit, seed)
      const { fromMs, intervalMs, count, second } = pulsesAfter(evidence, 130_000, 0, 0)
      const place = (atMs: number) => Math.floor((atMs + phaseMs) / 1_000)
      // The second pulse is refused when the limit is reached.
      expect(place(fromMs)).toBe(place(fromMs + intervalMs * limit))
      expect(second).toBeGreaterThan(limit)
      expect(fromMs).toBeGreaterThanOrEqual(130_000)
      expect(fromMs).toBeLessThan(131_000)
      expect(count).toBeLessThan(second)
    }
  })

  it('get their permits sooner by the time that a request is prepared', () => {
    const { evidence } = ramp(20, 3)
    const atOnce = pulsesAfter(evidence, 130_000, 0, 0)
    const prepared = pulsesAfter(evidence, 130_000, 80, 0)
    expect((atOnce.fromMs - prepared.fromMs + 1_000) % 1_000).toBeCloseTo(80)
  })

  it.each([15, 40])('are what a bucket of %i a second serves, and then more than it has left', (rate) => {
    const bucket = tokenBucket(aSecond(rate))
    const evidence = rampTo(bucket)
    const { fromMs, intervalMs, count, second } = pulsesAfter(evidence, 130_000, 0, 0)
    // The requests of a pulse that are served before one is refused.
    const served = (pulse: number, requests: number) => {
      const sent = Array.from({ length: requests }, (_, at) => fromMs + 1_000 * pulse + at * intervalMs)
      const refused = sent.findIndex((atMs) => !bucket(atMs))
      return refused < 0 ? requests : refused
    }
    expect(served(0, count)).toBeGreaterThanOrEqual(count - 1)
    // A window that has served the first pulse serves as many again.
    expect(served(1, second)).toBeLessThan(0.95 * count)
  })

  it('grow when they were used up, and the next is known before it begins', () => {
    const first = { fromMs: 5_000, intervalMs: 200 / 30, index: 0, count: 20, next: 20, second: 30 }
    const served = (pulses: Pulses, atMs: number, index: number, ordinal: number) =>
      servedPulse(pulses, { atMs, places: [{ anchorMs: 5_000, lengthMs: 1_000, index, ordinal }] })
    expect(served(first, 5_400, 0, 15)).toEqual(first)
    const used = served(first, 5_500, 0, 16)
    expect(used).toEqual({ ...first, next: 30 })
    expect(served(used, 5_600, 0, 20)).toEqual(used)
    expect(pulsePace(used)).toEqual({
      intervalMs: 200 / 30,
      windows: [{ anchorMs: 5_000, lengthMs: 1_000, limit: 30, capIndex: 0, cap: 20 }],
    })
    const second = served(used, 6_100, 1, 1)
    expect(second).toEqual({ ...first, index: 1, count: 30, next: 30 })
    // A day later it goes on where it was.
    expect(served(second, 86_405_500, 86_400, 24)).toEqual({ ...second, index: 86_400, next: 34 })
  })

  it('leave the running pulse as it is when an answer is late', () => {
    const first = { fromMs: 5_000, intervalMs: 7, index: 0, count: 20, next: 20, second: 30 }
    const places = [{ anchorMs: 5_000, lengthMs: 1_000, index: 0, ordinal: 19 }]
    const late = servedPulse(first, { atMs: 6_150, places })
    expect(late).toEqual({ ...first, index: 1, count: 20, next: 30 })
  })

  it('end where all that may be sent was served, and where no limit explains the first refusal', () => {
    const pulses = { fromMs: 0, intervalMs: 7, index: 3, count: 20, next: 20, second: 20 }
    expect(isSearched(pulses, 20)).toBe(false)
    expect(isSearched({ ...pulses, next: 22 }, 20)).toBe(true)
    expect(isSearched({ ...pulses, next: 22 }, 21)).toBe(false)
    expect(isSearched({ ...pulses, count: 37, next: 41 }, 1_000)).toBe(true)
    // At high rates a pulse does not fit into its second any more.
    expect(isSearched({ ...pulses, count: 300, next: 336, second: 300, intervalMs: 3 }, 1_000)).toBe(true)
  })

  it('never ask for more than the pacer may send, and not at all below two a second', () => {
    const pulses = { fromMs: 0, intervalMs: 7, index: 0, count: 19, next: 21, second: 30 }
    const suspicion = { lengthMs: 3_000, sinceMs: 0, endedAtMs: 1, resumedAtMs: 1, evidence: [], pulses }
    expect(withinBound(suspicion, 20.5).pulses).toEqual({ ...pulses, next: 20 })
    expect(withinBound(suspicion, 1.5).pulses).toBeUndefined()
  })

  it.each([20, 200])('come to an end at a service without a limit: at most %i a second', (maxPerSecond) => {
    let evenMs = 0
    const settings = { ...defaultLearnerSettings, maxPerSecond }
    const run = simulate({
      seed: 5,
      settings,
      // Once it refuses everything for three seconds.
      limit: () => (atMs) => atMs < 8_000 || atMs > 11_000,
      permitted: () => 1,
      durationMs: 60_000,
      outboundMs: 2,
      trace: (outcome, after, before) => {
        if (before.suspicion && !after.suspicion) evenMs = outcome.atMs
      },
    })
    expect(evenMs).toBeGreaterThan(11_000)
    expect(evenMs).toBeLessThan(40_000)
    expect(run.learner.rate).toBeGreaterThan(0.9 * Math.min(maxPerSecond, 100))
  })

  it('keep a level that was known before', () => {
    const { evidence } = ramp(20, 3)
    expect(pulsesAfter(evidence, 130_000, 0, 25)).toMatchObject({ count: 25, next: 25 })
    // It fits into its 200 ms also where it is far above what was served last.
    const { count, second, intervalMs } = pulsesAfter(evidenceOf([], 100_000), 130_000, 0, 45)
    expect({ count, second, lastsMs: count * intervalMs }).toEqual({ count: 45, second: 45, lastsMs: 200 })
  })

  it('are not sent where a longer window or the server sets the pace', () => {
    const pulses = { fromMs: 0, intervalMs: 7, index: 0, count: 5, next: 5, second: 10 }
    const times = { lengthMs: 3_000, sinceMs: 0, endedAtMs: 1, resumedAtMs: 1, evidence: [] }
    const learner = { ...newLearner(defaultLearnerSettings), suspicion: { ...times, pulses } }
    const headers = { resetAtMs: 10, intervalMs: 1, sentAtMs: 0 }
    const sliding = { lengthMs: 60_000, untilMs: 1 }
    expect(pulsesOf(learner)).toEqual(pulses)
    expect(pulsesOf({ ...learner, headers })).toBeUndefined()
    expect(pulsesOf({ ...learner, sliding })).toBeUndefined()
  })

  it('begin with a few where nothing was served before', () => {
    expect(pulsesAfter(evidenceOf([], 100_000), 130_000, 0, 0).count).toBe(2)
  })
})

const kinds = {
  'a fixed window': (rate: number, random: () => number) => fixedWindow(aSecond(rate), random),
  'a sliding window': (rate: number) => slidingWindow(aSecond(rate)),
  'a bucket': (rate: number) => tokenBucket(aSecond(rate)),
  'even spacing': (rate: number, random: () => number) => evenlySpaced(rate, 1 + Math.floor(5 * random())),
}
const draws = sized(50, 16)
/** So many of 50 draws reach 95 % at least, and the same share of fewer. */
const doors = (
  [
    { from: 6, to: 15, limit: 'a fixed window', least: 49 },
    { from: 6, to: 15, limit: 'a sliding window', least: 49 },
    { from: 6, to: 15, limit: 'a bucket', least: 49 },
    { from: 6, to: 15, limit: 'even spacing', least: 43 },
    { from: 15, to: 25, limit: 'a fixed window', least: 47 },
    { from: 15, to: 25, limit: 'a sliding window', least: 47 },
    { from: 15, to: 25, limit: 'a bucket', least: 47 },
    { from: 15, to: 25, limit: 'even spacing', least: 38 },
  ] as const
).map((door) => ({ ...door, draws, least: Math.floor((door.least * draws) / 50) }))

// With even requests after the first refusal, 66 of 100 other draws of fixed windows behind 6 to 15 s reached 95 %.
it.each(doors)(
  'doors of $from to $to s before $limit: $least of $draws reach 95 %',
  ({ from, to, limit, least }) => {
    const uses = Array.from({ length: draws }, (_, index) => {
      const dice = seeded(500 + index)
      const [rate, closedMs] = [
        Math.round(10 * 6 ** dice()),
        Math.round(1_000 * from * (to / from) ** dice()),
      ]
      const { between } = simulate({
        seed: index,
        limit: (random) => withPenalty(kinds[limit](rate, random), closedMs),
        permitted: (fromMs, toMs) => (rate * (toMs - fromMs)) / 1_000,
        outboundMs: 2,
        serviceMs: (random) => 40 + 440 * random(),
        durationMs: 240_000,
      })
      return between(60_000, 240_000).use
    })
    const sorted = uses.sort((a, b) => a - b)
    const reached = uses.filter((use) => use >= 0.95).length
    const text = `median ${percent(sorted[draws / 2]!)}, least ${percent(sorted[0]!)}, ${reached} of ${draws} at 95 %`
    show(`  doors of ${from} to ${to} s, ${limit}: ${text}`)
    expect(reached).toBeGreaterThanOrEqual(least)
  },
)
