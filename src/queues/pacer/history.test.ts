import { expect, test } from 'vitest'
import { addSuccess, countBetween, type Checkpoint } from './history.ts'

const sent = (times: readonly number[]) => times.reduce<Checkpoint[]>(addSuccess, [])

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
