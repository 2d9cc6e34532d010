import { expect, test } from 'vitest'
import type { RateLimit } from './faults.ts'
import { createRateLimiter } from './rate-limiter.ts'

const admitted = (rule: Omit<RateLimit, 'windowMs'>, times: number[]) => {
  const limiter = createRateLimiter()
  return times.map((time) => limiter.admit({ ...rule, windowMs: 1000 }, time))
}

test('a fixed window restores the whole limit at its end, independent of when the last one was used', () => {
  const rule = { kind: 'fixed', limit: 2, countRefused: false } as const
  const times = [0, 990, 995, 1000, 1001, 1002]
  expect(admitted(rule, times)).toEqual([true, true, false, true, true, false])
})

test('a fixed window that counts refused requests starts again with each of them', () => {
  const rule = { kind: 'fixed', limit: 1, countRefused: true } as const
  expect(admitted(rule, [0, 900, 1100, 2099, 3100])).toEqual([true, false, false, false, true])
})

test('a sliding window never admits more than its limit in any interval of its length', () => {
  const rule = { kind: 'sliding', limit: 2, countRefused: false } as const
  const times = [0, 990, 995, 1000, 1001, 1990]
  expect(admitted(rule, times)).toEqual([true, true, false, true, false, true])
})

test('a sliding window that counts refused requests stays closed while they continue', () => {
  const rule = { kind: 'sliding', limit: 1, countRefused: true } as const
  expect(admitted(rule, [0, 600, 1200, 1800, 2801])).toEqual([true, false, false, false, true])
})

test('a bucket refills gradually', () => {
  const rule = { kind: 'bucket', limit: 2, countRefused: false } as const
  expect(admitted(rule, [0, 0, 0, 499, 500, 501, 5000, 5000, 5000])).toEqual([
    true,
    true,
    false,
    false,
    true,
    false,
    true,
    true,
    false,
  ])
})

test('a rule that is set again unchanged keeps its count, and a changed one starts from zero', () => {
  const limiter = createRateLimiter()
  const rule = () => ({ kind: 'fixed', limit: 1, windowMs: 1000, countRefused: false }) as const
  expect(limiter.admit(rule(), 0)).toBe(true)
  expect(limiter.admit(rule(), 1)).toBe(false)
  expect(limiter.admit({ ...rule(), limit: 2 }, 2)).toBe(true)
})
