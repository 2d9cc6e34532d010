import { expect, it } from 'vitest'
import { inFlight } from '../shapes.ts'
import { middle, percent, second, show } from '../simulation.fixture.ts'
import { seeded, simulate } from '../simulation.ts'

const draws = Array.from({ length: 24 }, (_, index) => index + 1)

// Five to fifteen requests a second: each test of the limit is a fifth of a percent of what is sent in the minute and a half.
it.each([
  [2, 200, 300, 0.0042],
  [2, 300, 400, 0.005],
  [3, 300, 400, 0.0037],
] as const)('%i at once, %i to %i ms each, are seldom refused', (most, leastMs, mostMs, bound) => {
  const runs = draws.map((seed) => {
    const dice = seeded(100 * most + seed)
    const serviceMs = leastMs + (mostMs - leastMs) * dice()
    return simulate({
      seed,
      limit: () => inFlight(most),
      permitted: (fromMs, toMs) => (most * (toMs - fromMs)) / serviceMs,
      serviceMs: () => serviceMs * (0.75 + 0.5 * dice()),
      outboundMs: 2,
      durationMs: 120 * second,
    }).between(30 * second, 120 * second)
  })
  const refused = middle(runs.map(({ refusedShare }) => refusedShare))
  const use = middle(runs.map((run) => run.use))
  show(`  ${most} at once, ${leastMs} to ${mostMs} ms: use ${percent(use)}, refused ${percent(refused)}`)
  expect(refused).toBeLessThanOrEqual(bound)
  expect(use).toBeGreaterThanOrEqual(0.9)
})
