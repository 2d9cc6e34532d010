import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { soonWhile } from './soon-while.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function round(ms: number, isMore: boolean) {
  return async () => {
    vi.advanceTimersByTime(ms)
    return isMore
  }
}

test('a job with more to do pauses for three times as long as its round took', async () => {
  expect(await soonWhile(round(12, true))).toBe(36)
  expect(await soonWhile(round(12, true), { mostMs: 500 })).toBe(36)
  expect(await soonWhile(round(12, false), { mostMs: 500 })).toBeUndefined()
})

test('a job that nobody waits for pauses for longer', async () => {
  expect(await soonWhile(round(12, true), { leastMs: 100 })).toBe(100)
  expect(await soonWhile(round(40, true), { leastMs: 100 })).toBe(120)
  expect(await soonWhile(round(40, true), { leastMs: 100, times: 8 })).toBe(320)
})

test('a round on a slow disk makes it no rarer than with nothing to do', async () => {
  expect(await soonWhile(round(400, true), { mostMs: 500 })).toBe(500)
})
