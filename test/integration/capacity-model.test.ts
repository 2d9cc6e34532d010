import { expect, test } from 'vitest'
import { errorOf, lineThrough, needsAt, predict } from '../../bench/capacity-model.ts'

test('a night of which the first part is once and the rest each is predicted exactly', () => {
  const night = (lookups: number) => ({ lookups, total: 500 + 3 * lookups })
  const line = lineThrough(night(1_000), night(4_000))
  expect(line).toEqual({ once: 500, each: 3 })
  expect(predict(line, 10_000)).toBe(30_500)
})

test('the error of a prediction is a share of what was measured', () => {
  expect(errorOf(110, 100)).toBeCloseTo(0.1)
  expect(errorOf(90, 100)).toBeCloseTo(-0.1)
})

test('so many lookups a second take so many cores, and a billion so much room', () => {
  const needs = needsAt(1_000, {
    workerMs: 2,
    postgresMs: 1,
    redisMs: 0.1,
    walBytes: 40_000,
    keptBytes: 20_000,
    redisCommands: 2.5,
  })
  expect(needs).toEqual({
    'lookups a second': 1_000,
    'cores, workers': 2,
    'cores, Postgres': 1,
    'of the one Redis thread': 0.1,
    'Redis commands a second': 2_500,
    'WAL, MB a second': 40,
    'days for a billion': 1e9 / 86_400_000,
    'TB for a billion': 20,
  })
})
