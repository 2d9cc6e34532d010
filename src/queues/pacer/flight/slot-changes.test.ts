import { expect, it } from 'vitest'
import { isFullSize } from '../../../../test/support/full-size.ts'
import { inFlight } from '../shapes.ts'
import { middle, percent, second, show } from '../simulation.fixture.ts'
import { seeded, simulate, type HiddenLimit } from '../simulation.ts'

const draws = Array.from({ length: isFullSize ? 8 : 3 }, (_, index) => index + 1)

function slots(most: (atMs: number) => number, retryAfterMs: number): HiddenLimit {
  const admits = inFlight(most)
  if (retryAfterMs > 0) admits.retryAfterMs = () => retryAfterMs
  return admits
}

function use(
  name: string,
  most: (atMs: number) => number,
  serviceMs: number,
  { processes = 1, untilMs = 300 * second, retryAfterMs = 0 } = {},
) {
  const runs = draws.map((seed) => {
    const dice = seeded(100 * serviceMs + seed)
    return simulate({
      seed,
      processes,
      limit: () => slots(most, retryAfterMs),
      permitted(fromMs, toMs) {
        let served = 0
        for (let atMs = fromMs; atMs < toMs; atMs += 100)
          served += (most(atMs) * Math.min(100, toMs - atMs)) / serviceMs
        return served
      },
      serviceMs: () => serviceMs * (0.75 + 0.5 * dice()),
      outboundMs: 2,
      durationMs: untilMs,
    }).between(100 * second, untilMs)
  })
  const used = middle(runs.map((run) => run.use))
  const refused = middle(runs.map(({ refusedShare }) => refusedShare))
  show(`  ${name}: use ${percent(used)}, refused ${percent(refused)}`)
  return { used, refused }
}

const once = (from: number, to: number) => (atMs: number) => (atMs < 100 * second ? from : to)
const inTurns = (high: number, low: number, seconds: number) => (atMs: number) =>
  atMs % (seconds * second) < (seconds * second) / 2 ? high : low

// The use of the 200 seconds from the change on. While a fall was left to the rate for ever, 78 to 80 %.
it.each([
  [8, 4, 150, 1, 0.94, 0.008],
  [12, 5, 80, 1, 0.9, 0.005],
  [20, 8, 200, 1, 0.95, 0.007],
  [6, 3, 200, 3, 0.94, 0.018],
] as const)(
  'of %i at once %i are left, %i ms each, in %i processes',
  (from, to, serviceMs, processes, least, most) => {
    const { used, refused } = use(`of ${from} at once ${to} are left`, once(from, to), serviceMs, {
      processes,
    })
    expect(used).toBeGreaterThanOrEqual(least)
    expect(refused).toBeLessThanOrEqual(most)
  },
)

// While a test that was refused took away the slot found before it, and tests became ever rarer: 67, 74, 58 and 58 %.
it.each([
  [2, 3, 300, 1, 0.88],
  [3, 4, 300, 1, 0.9],
  [2, 4, 400, 2, 0.76],
  [10, 20, 60, 1, 0.76],
] as const)(
  'in place of %i at once there are %i, %i ms each, in %i processes',
  (from, to, serviceMs, processes, least) => {
    const { used, refused } = use(`in place of ${from} at once ${to}`, once(from, to), serviceMs, {
      processes,
    })
    expect(used).toBeGreaterThanOrEqual(least)
    expect(refused).toBeLessThanOrEqual(0.005)
  },
)

// Changes that come again are left to the rate, as all were before: 77, 73 and 59 %.
it.each([
  [9, 3, 60, 150, 0.72],
  [6, 2, 120, 150, 0.72],
  [12, 4, 180, 100, 0.62],
] as const)('%i and %i at once in turns, every %i s', (high, low, seconds, serviceMs, least) => {
  const { used } = use(
    `${high} and ${low} at once in turns, every ${seconds} s`,
    inTurns(high, low, seconds),
    serviceMs,
    { untilMs: 460 * second },
  )
  expect(used).toBeGreaterThanOrEqual(least)
})

// Each test that is refused pauses everything: with as many tests as without a pause, ten seconds took a tenth of the use.
it.each([
  [8, 4, 100, 1, 0.88],
  [2, 2, 400, 10, 0.9],
] as const)(
  'of %i at once %i are left, %i ms each, each refusal pauses for %i s',
  (from, to, serviceMs, seconds, least) => {
    const retryAfterMs = seconds * second
    const { used, refused } = use(
      `of ${from} at once ${to}, Retry-After ${seconds}`,
      once(from, to),
      serviceMs,
      { retryAfterMs, untilMs: 720 * second },
    )
    expect(used).toBeGreaterThanOrEqual(least)
    expect(refused).toBeLessThanOrEqual(0.005)
  },
)
