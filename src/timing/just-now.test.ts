import { expect, test, vi } from 'vitest'
import { createJustNow } from './just-now.ts'

function stage(most = 3) {
  const clock = { ms: 0 }
  const kept = createJustNow<string, number>({ mostMs: 1_000, most, nowMs: () => clock.ms })
  return { clock, kept }
}

test('gives what was remembered, once', () => {
  const { kept } = stage()
  kept.remember('a', 1)
  kept.remember('b', 2)
  expect(kept.takeAll(['a', 'b'])).toEqual(
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  )
  expect(kept.takeAll(['a'])).toBeUndefined()
})

test('gives nothing where one key is unknown, and keeps the others for a later question', () => {
  const { kept } = stage()
  kept.remember('a', 1)
  expect(kept.takeAll(['a', 'b'])).toBeUndefined()
  expect(kept.takeAll(['a'])).toEqual(new Map([['a', 1]]))
})

test('gives nothing that is too old', () => {
  const { clock, kept } = stage()
  kept.remember('a', 1)
  clock.ms = 999
  kept.remember('b', 2)
  clock.ms = 1_000
  expect(kept.takeAll(['a'])).toBeUndefined()
  expect(kept.takeAll(['b'])).toEqual(new Map([['b', 2]]))
})

test('forgets the oldest when it is full, and counts a key once', () => {
  const { kept } = stage(2)
  kept.remember('a', 1)
  kept.remember('b', 2)
  kept.remember('a', 3)
  kept.remember('c', 4)
  expect(kept.takeAll(['b'])).toBeUndefined()
  expect(kept.takeAll(['a', 'c'])?.get('a')).toBe(3)
})

test('nothing stays in memory because nobody has come for it', async () => {
  vi.useFakeTimers()
  // Others of this process may set timers meanwhile: its own are known by their length.
  const mostMs = 1_237
  // By hand: a spy is restored once more when the file has ended, and the fake timer stays for the next file.
  const fake = globalThis.setTimeout
  let set = 0
  globalThis.setTimeout = Object.assign((work: () => void, ms?: number) => {
    if (ms === mostMs) set += 1
    return fake(work, ms)
  }, fake)
  const sweeps = () => set
  try {
    const kept = createJustNow<string, object>({ mostMs, most: 3, nowMs: () => Date.now() })
    kept.remember('a', {})
    await vi.advanceTimersByTimeAsync(500)
    kept.remember('b', {})
    expect(sweeps()).toBe(1)
    await vi.advanceTimersByTimeAsync(1_500)
    expect(sweeps()).toBe(2)
    // The second sweep leaves nothing for a third.
    await vi.advanceTimersByTimeAsync(10_000)
    expect(sweeps()).toBe(2)
    expect(kept.takeAll(['b'])).toBeUndefined()
  } finally {
    globalThis.setTimeout = fake
    vi.useRealTimers()
  }
})
