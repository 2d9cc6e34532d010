import { expect, test } from 'vitest'
import { addSuccess, countBetween, type Checkpoint } from './history.ts'

const sent = (times: readonly number[], options?: { isFine: boolean }) =>
  times.reduce<Checkpoint[]>((history, atMs) => addSuccess(history, atMs, options), [])

test('an answer counts where its request was sent, also when later ones were answered before', () => {
  const times = Array.from({ length: 60 }, (_, at) => 1000 + 20 * at)
  const late = [...times.slice(10), ...times.slice(0, 10).reverse()]
  const history = sent([1000, ...late.filter((atMs) => atMs !== 1000)])
  expect(countBetween(history, 0, 3000)).toBe(60)
  for (const fromMs of [1300, 1700, 2000]) {
    expect(Math.abs(countBetween(history, fromMs, fromMs + 200) - 10)).toBeLessThanOrEqual(1)
  }
})

test('what is thinned out with age keeps its count', () => {
  const history = sent(Array.from({ length: 5_000 }, (_, at) => 20 * at))
  expect(history.length).toBeLessThan(160)
  expect(countBetween(history, -1, 100_000)).toBe(5_000)
  expect(Math.abs(countBetween(history, 20_000, 80_000) - 3_000)).toBeLessThan(30)
})

test('fine points count to the request, also around a silence and when answers come in another order', () => {
  const pulses = [1_000, 2_000, 3_000].flatMap((fromMs) =>
    Array.from({ length: 9 }, (_, at) => fromMs + 7 * at),
  )
  const swapped = pulses.map((_, at) => pulses[at % 2 === 0 ? at + 1 : at - 1] ?? pulses[at]!)
  for (const history of [sent(pulses, { isFine: true }), sent(swapped, { isFine: true })]) {
    for (const fromMs of [1_100, 1_500, 1_999]) {
      expect(countBetween(history, fromMs, 2_500)).toBe(9)
      expect(countBetween(history, fromMs, 3_999)).toBe(18)
    }
    for (const [at, atMs] of pulses.entries())
      expect(Math.abs(countBetween(history, 0, atMs) - at - 1)).toBeLessThanOrEqual(1)
  }
})

test('coarse and fine points follow one another', () => {
  const coarse = sent(Array.from({ length: 100 }, (_, at) => 20 * at))
  const both = [1_990, 5_000, 5_004, 5_001].reduce(
    (all, atMs) => addSuccess(all, atMs, { isFine: true }),
    coarse,
  )
  expect(countBetween(both, -1, 10_000)).toBe(104)
  expect(countBetween(both, 2_500, 4_999)).toBeLessThanOrEqual(1)
  expect(countBetween(both, 4_999, 6_000)).toBe(3)
  expect(both.at(-1)).toMatchObject({ atMs: 5_000, lastMs: 5_004 })
})
