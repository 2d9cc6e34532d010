import { expect, test } from 'vitest'
import { createWake } from './wake.ts'

const longMs = 60_000
const never = new AbortController().signal

test('a wait ends when it is woken, when its signal fires, and not for another name', async () => {
  const { wake, wait } = createWake()
  const ended: string[] = []
  const stop = new AbortController()
  const waits = [
    wait('a', longMs, never).then(() => ended.push('a')),
    wait('b', longMs, stop.signal).then(() => ended.push('b')),
  ]
  wake('a')
  await waits[0]
  expect(ended).toEqual(['a'])
  stop.abort()
  await waits[1]
  expect(ended).toEqual(['a', 'b'])
})

test('who is woken while at work does not sleep once', async () => {
  const { wake, wait } = createWake()
  wake('a')
  expect(await wait('a', longMs, never)).toBe(true)
  const started = performance.now()
  expect(await wait('a', 5, never)).toBe(false)
  expect(performance.now() - started).toBeGreaterThanOrEqual(4)
})

test('a wake that has ended no wait can be taken instead, once', () => {
  const { wake, take } = createWake()
  expect(take('a')).toBe(false)
  wake('a')
  expect(take('b')).toBe(false)
  expect(take('a')).toBe(true)
  expect(take('a')).toBe(false)
})
