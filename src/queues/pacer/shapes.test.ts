// One file because the shapes are one table, with one judge.
import { describe, expect, it } from 'vitest'
import { isFullSize } from '../../../test/support/full-size.ts'
import { breathing, evenlySpaced, inFlight, neighbour, withPenalty } from './shapes.ts'
import { percent, second, show } from './simulation.fixture.ts'
import {
  fixedWindow,
  outboundDelay,
  seeded,
  simulate,
  slidingWindow,
  tokenBucket,
  type HiddenLimit,
  type Measured,
  type Scenario,
} from './simulation.ts'

/** The parameters are drawn at random, other ones for each seed. */
const seeds = isFullSize ? Array.from({ length: 12 }, (_, index) => index + 1) : [1, 2, 3, 4, 5]
const kinds = { fixed: fixedWindow, sliding: slidingWindow, bucket: tokenBucket }
type KindName = keyof typeof kinds
const kindNames = Object.keys(kinds) as KindName[]

interface Case extends Pick<Scenario, 'limit' | 'permitted' | 'outboundMs' | 'serviceMs'> {
  text: string
}

interface Shape {
  name: string
  draw: (random: () => number) => Case
  fromSeconds: number
  toSeconds: number
  /** The share of the oracle, as the median and as the least over the seeds; and the median share refused. */
  use: number
  leastUse: number
  refused: number
  /** The number of draws, where the least of a few says little. */
  draws?: number
}

const between = (random: () => number, from: number, to: number) => from + random() * (to - from)
const oneOf = <T>(random: () => number, values: readonly T[]) =>
  values[Math.floor(random() * values.length)] as T
const perSecond = (rate: number) => (fromMs: number, toMs: number) => (rate * (toMs - fromMs)) / second
/** A network near by; the simulation of windows has one far away. */
const outboundMs = 2

/** Answers take from 40 to 480 ms: what is known of a limit is late by as much. */
const ofAnySize = (random: () => number) => between(random, 40, 480)

/** Draws a kind of limit whose rate stays. */
function steady(random: () => number, rate: number) {
  const kind = oneOf(random, [...kindNames, 'spaced'] as const)
  const limitOf = (dice: () => number) =>
    kind === 'spaced' ? evenlySpaced(rate, 3) : kinds[kind]({ limitAt: () => rate, windowMs: second }, dice)
  return { kind, limitOf }
}

function spacedWith(rate: number, burst: number): Case {
  return {
    text: `${rate}/s, ${burst} extra`,
    limit: () => evenlySpaced(rate, burst),
    permitted: perSecond(rate),
    outboundMs,
    serviceMs: ofAnySize,
  }
}

function penaltyOf(leastMs: number, mostMs: number, { renewed = false } = {}): Shape['draw'] {
  return (random) => {
    const rate = Math.round(between(random, 10, 80))
    const penaltyMs = Math.round(between(random, leastMs, mostMs))
    const { kind, limitOf } = steady(random, rate)
    const limit = (dice: () => number) => withPenalty(limitOf(dice), penaltyMs, { renewed })
    const text = `${kind} ${rate}/s, closed ${penaltyMs} ms`
    return { text, limit, permitted: perSecond(rate), outboundMs }
  }
}

/** All that the limit allows, as the neighbour really took it: with his mean alone, luck decides. */
function neighbourOf(kind: KindName, rate: number, turnMs: number): Case {
  let limitAt = (_atMs: number) => 0
  const limit = (dice: () => number) => {
    limitAt = neighbour(dice, { perSecond: rate, most: 0.6, turnMs })
    return kinds[kind]({ limitAt, windowMs: second }, dice)
  }
  const permitted = (fromMs: number, toMs: number) => sumOf((atMs) => limitAt(atMs), fromMs, toMs)
  const text = `${kind} ${rate}/s, another every ${turnMs} ms`
  return { text, limit, permitted, outboundMs, serviceMs: ofAnySize }
}

const shapes: Shape[] = [
  {
    name: 'evenly spaced',
    draw(random) {
      const rate = Math.round(between(random, 10, 110))
      const burst = Math.round(between(random, 1, 5))
      const limit = () => evenlySpaced(rate, burst)
      const most = evenPace(limit, rate)
      return { text: `${rate}/s, ${burst} extra`, limit, permitted: perSecond(most), outboundMs }
    },
    fromSeconds: 30,
    toSeconds: 120,
    use: 0.97,
    leastUse: 0.95,
    refused: 0.004,
  },
  {
    // Half a percent is five to eight requests here, and looks alone take three.
    name: 'evenly spaced at 11 to 19 a second with one or two extra',
    draw: (random) => spacedWith(Math.round(between(random, 11, 19)), Math.round(between(random, 1, 2))),
    fromSeconds: 30,
    toSeconds: 120,
    use: 0.985,
    leastUse: 0.95,
    refused: 0.0045,
    draws: 40,
  },
  {
    name: 'evenly spaced 20 a second with one extra, as the benchmark measures it',
    draw: () => spacedWith(20, 1),
    fromSeconds: 30,
    toSeconds: 120,
    use: 0.99,
    leastUse: 0.98,
    refused: 0.0045,
    draws: 40,
  },
  {
    name: 'evenly spaced at 10 to 30 a second with one extra',
    draw: (random) => spacedWith(Math.round(between(random, 10, 30)), 1),
    fromSeconds: 30,
    toSeconds: 120,
    use: 0.99,
    leastUse: 0.98,
    refused: 0.005,
    draws: 40,
  },
  {
    name: 'penalty of 2 to 10 s',
    draw: penaltyOf(2_000, 10_000),
    fromSeconds: 60,
    toSeconds: 240,
    use: 0.975,
    leastUse: 0.95,
    refused: 0.005,
  },
  {
    // A second refusal of half a minute may end in this time, and costs a tenth of it.
    name: 'penalty of 10 to 30 s',
    draw: penaltyOf(10_000, 30_000),
    fromSeconds: 60,
    toSeconds: 240,
    use: 0.955,
    leastUse: 0.92,
    refused: 0.005,
  },
  {
    name: 'penalty of 5 s, as the benchmark measures it',
    draw: () => ({
      text: 'fixed 20/s, closed 5000 ms',
      limit: (dice) => withPenalty(fixedWindow({ limitAt: () => 20, windowMs: second }, dice), 5_000),
      permitted: perSecond(20),
      outboundMs,
      serviceMs: ofAnySize,
    }),
    fromSeconds: 60,
    toSeconds: 180,
    use: 0.985,
    leastUse: 0.98,
    refused: 0.005,
    draws: 60,
  },
  {
    name: 'at most so many at once',
    draw(random) {
      const most = Math.round(between(random, 2, 20))
      const serviceMs = Math.round(between(random, 40, 400))
      const text = `${most} at once, ${serviceMs} ms each`
      const rate = (most * second) / serviceMs
      return {
        text,
        limit: () => inFlight(most),
        permitted: perSecond(rate),
        serviceMs: () => serviceMs,
        outboundMs,
      }
    },
    fromSeconds: 30,
    toSeconds: 120,
    use: 0.93,
    leastUse: 0.85,
    refused: 0.005,
  },
  {
    name: 'breathing 3:1',
    draw(random) {
      const high = Math.round(between(random, 20, 90))
      const periodMs = Math.round(between(random, 30_000, 120_000))
      const kind = oneOf(random, kindNames)
      const limitAt = breathing(high, Math.round(high / 3), periodMs)
      const limit = (dice: () => number) => kinds[kind]({ limitAt, windowMs: second }, dice)
      const permitted = (fromMs: number, toMs: number) => sumOf(limitAt, fromMs, toMs)
      return { text: `${kind} ${high}/s, every ${periodMs} ms`, limit, permitted, outboundMs }
    },
    fromSeconds: 60,
    toSeconds: 300,
    use: 0.9,
    leastUse: 0.8,
    refused: 0.06,
  },
  {
    // So few requests and so long that each level looks as if it stayed: the next rise must be found all the same.
    name: 'in turns, 6 to 30 a second and a third of it',
    draw(random) {
      const high = 3 * Math.round(between(random, 2, 10))
      const periodMs = Math.round(between(random, 40_000, 120_000))
      const limitAt = breathing(high, high / 3, periodMs)
      const limit = (dice: () => number) => fixedWindow({ limitAt, windowMs: second }, dice)
      const permitted = (fromMs: number, toMs: number) => sumOf(limitAt, fromMs, toMs)
      return { text: `fixed ${high}/s, every ${periodMs} ms`, limit, permitted, outboundMs }
    },
    fromSeconds: 60,
    toSeconds: 300,
    use: 0.94,
    leastUse: 0.85,
    refused: 0.1,
    draws: 40,
  },
  {
    name: 'shared with a neighbour',
    draw(random) {
      const rate = Math.round(between(random, 15, 60))
      const turnMs = Math.round(between(random, 2_000, 20_000))
      const kind = oneOf(random, ['fixed', 'bucket'] as const)
      const limit = (dice: () => number) => {
        const limitAt = neighbour(dice, { perSecond: rate, most: 0.6, turnMs })
        return kinds[kind]({ limitAt, windowMs: second }, dice)
      }
      // An oracle that knows the neighbour's mean.
      return {
        text: `${kind} ${rate}/s, another every ${turnMs} ms`,
        limit,
        permitted: perSecond(0.7 * rate),
        outboundMs,
      }
    },
    fromSeconds: 30,
    toSeconds: 240,
    use: 0.93,
    leastUse: 0.82,
    refused: 0.08,
    // Against the neighbour's mean, five draws are luck.
    draws: 12,
  },
  {
    // The level may be found while the neighbour takes most of it. Then it is the looks above it that find the limit.
    name: 'a neighbour, fixed windows of 20 a second, as the benchmark measures it',
    draw: () => neighbourOf('fixed', 20, 5_000),
    fromSeconds: 30,
    toSeconds: 180,
    use: 0.91,
    leastUse: 0.82,
    refused: 0.1,
    draws: 40,
  },
  {
    name: 'neighbours of 12 to 60 a second, another part every 3 to 15 s',
    draw(random) {
      const rate = Math.round(between(random, 12, 60))
      const turnMs = Math.round(between(random, 3_000, 15_000))
      return neighbourOf(oneOf(random, kindNames), rate, turnMs)
    },
    fromSeconds: 30,
    toSeconds: 180,
    use: 0.94,
    leastUse: 0.84,
    refused: 0.08,
    draws: 40,
  },
  {
    name: 'first 30 s of a cold run',
    draw(random) {
      const rate = Math.round(between(random, 10, 200))
      const { kind, limitOf: limit } = steady(random, rate)
      return { text: `${kind} ${rate}/s`, limit, permitted: perSecond(rate), outboundMs }
    },
    fromSeconds: 0,
    toSeconds: 30,
    use: 0.92,
    leastUse: 0.85,
    refused: 0.015,
  },
  {
    // The fewest requests in which a search can be lost: a refusal is a third of a percent.
    name: 'first 30 s at 10 to 20 a second',
    draw(random) {
      const rate = Math.round(between(random, 10, 20))
      const { kind, limitOf: limit } = steady(random, rate)
      return {
        text: `${kind} ${rate}/s`,
        limit,
        permitted: perSecond(rate),
        outboundMs,
        serviceMs: ofAnySize,
      }
    },
    fromSeconds: 0,
    toSeconds: 30,
    use: 0.92,
    leastUse: 0.85,
    refused: 0.014,
    draws: 40,
  },
  {
    name: 'a neighbour who takes another part each second or two',
    draw(random) {
      const rate = Math.round(between(random, 15, 60))
      const turnMs = Math.round(between(random, 1_000, 2_000))
      const kind = oneOf(random, kindNames)
      const limit = (dice: () => number) => {
        const limitAt = neighbour(dice, { perSecond: rate, most: 0.6, turnMs })
        return kinds[kind]({ limitAt, windowMs: second }, dice)
      }
      const text = `${kind} ${rate}/s, another every ${turnMs} ms`
      return { text, limit, permitted: perSecond(0.7 * rate), outboundMs, serviceMs: ofAnySize }
    },
    fromSeconds: 30,
    toSeconds: 240,
    use: 0.86,
    leastUse: 0.76,
    refused: 0.09,
    draws: 60,
  },
]

/** In the short size, of a shape whose draws differ much. */
const fewDraws = 24

describe('against a limit of another shape, with random parameters', () => {
  it.each(shapes)('$name: use ≥ $use of the oracle in the median', (shape) => {
    const draws = isFullSize ? shape.draws : shape.draws && fewDraws
    const of = draws ? Array.from({ length: draws }, (_, i) => i + 1) : seeds
    const measured = of.map((seed) => measure(shape, seed))
    const uses = measured.map(({ use }) => use).sort((a, b) => a - b)
    const refusals = measured.map(({ refusedShare }) => refusedShare).sort((a, b) => a - b)
    const middle = Math.floor(of.length / 2)
    show(
      `  ${shape.name}: use ${percent(uses[middle]!)} (least ${percent(uses[0]!)}), refused ${percent(refusals[middle]!)}`,
    )
    expect(uses[middle]).toBeGreaterThanOrEqual(shape.use)
    expect(uses[0]).toBeGreaterThanOrEqual(shape.leastUse)
    expect(refusals[middle]).toBeLessThanOrEqual(shape.refused)
  })
})

function measure({ name, draw, fromSeconds, toSeconds }: Shape, seed: number): Measured {
  const { text, ...scenario } = draw(seeded(1000 + seed))
  const run = simulate({ ...scenario, seed, durationMs: toSeconds * second })
  const measured = run.between(fromSeconds * second, toSeconds * second)
  if (isFullSize) {
    show(`    ${name}, ${text}: use ${percent(measured.use)}, refused ${percent(measured.refusedShare)}`)
  }
  return measured
}

function sumOf(limitAt: (atMs: number) => number, fromMs: number, toMs: number): number {
  let sum = 0
  for (let atMs = fromMs; atMs < toMs; atMs += second) sum += limitAt(atMs)
  return sum
}

/** A client that knows the limit and sends evenly, at the rate that serves most with at most half a percent refused. */
function evenPace(limit: () => HiddenLimit, rate: number): number {
  let best = 0
  for (let share = 0.7; share <= 1.01; share += 0.01) {
    const random = seeded(1)
    const admits = limit()
    const requests = Math.round(share * rate * 100)
    const arrivals = Array.from(
      { length: requests },
      (_, index) => (index * second) / (share * rate) + outboundDelay(random, outboundMs),
    ).sort((a, b) => a - b)
    const served = arrivals.filter((atMs) => admits(atMs)).length
    if (1 - served / requests <= 0.005) best = Math.max(best, served / 100)
  }
  return best
}
