import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SharedState, TakeAnswer } from './shared-state.ts'
import { createGate } from './flight/gate.ts'
import { createWaitingLine } from './waiting-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function openGate() {
  return createGate('this', () => performance.now())
}

const slowTokens = () => evenTokens(200)

/** A Redis that grants every request: a token each interval, up to 20 ms ahead. */
function evenTokens(intervalMs = 5): SharedState {
  let lastMs = performance.now()
  const take = async (wanted: { hot: number; background: number }): Promise<TakeAnswer> => {
    const nowMs = performance.now()
    const grants: TakeAnswer['grants'] = []
    for (const lane of ['hot', 'background'] as const) {
      for (let left = wanted[lane]; left > 0 && lastMs + intervalMs <= nowMs + 20; left -= 1) {
        lastMs = Math.max(lastMs + intervalMs, nowMs)
        grants.push({ atMs: lastMs, lane, epoch: 0, busy: true, places: [] })
      }
    }
    const nextMs = Math.max(0, lastMs + intervalMs - nowMs)
    return { nowMs, version: '0', hotWaitMs: nextMs, backgroundWaitMs: nextMs, intervalMs, grants }
  }
  return { take } as unknown as SharedState
}

test('a hot request overtakes background requests that hold tokens and wait', async () => {
  const line = createWaitingLine(evenTokens(), 20, openGate())
  const served: string[] = []
  const take = (lane: 'hot' | 'background', name: string) =>
    line.take({ lane, maxWaitMs: 1_000 }).then((answer) => served.push(`${name} ${answer.granted}`))
  const background = [1, 2, 3, 4].map((number) => take('background', `background ${number}`))
  // All four are granted, 5 to 20 ms ahead; a fifth can be granted as soon as the first is used.
  await vi.advanceTimersByTimeAsync(2)
  const hot = take('hot', 'hot')
  await vi.advanceTimersByTimeAsync(10)
  await hot
  expect(served).toEqual(['background 1 true', 'hot true'])
  await vi.advanceTimersByTimeAsync(100)
  await Promise.all(background)
  expect(served.toSorted()).toEqual([
    'background 1 true',
    'background 2 true',
    'background 3 true',
    'background 4 true',
    'hot true',
  ])
})

test('of two hot requests none takes the other’s token', async () => {
  const line = createWaitingLine(evenTokens(), 20, openGate())
  const served: string[] = []
  const both = ['first', 'second'].map((name) =>
    line.take({ lane: 'hot', maxWaitMs: 1_000 }).then(() => served.push(name)),
  )
  await vi.advanceTimersByTimeAsync(100)
  await Promise.all(both)
  expect(served).toEqual(['first', 'second'])
})

test('requests laid aside at the first pace come back while it doubles, and later when it is their turn', async () => {
  const line = createWaitingLine(slowTokens(), 20, openGate())
  const crowd = () => Array.from({ length: 60 }, () => line.take({ lane: 'background', maxWaitMs: 2_000 }))
  const longestAsideMs = async () => {
    const answers = crowd()
    await vi.advanceTimersByTimeAsync(10_000)
    return Math.max(...(await Promise.all(answers)).map((answer) => (answer.granted ? 0 : answer.retryInMs)))
  }
  // 59 intervals of 200 ms are 11.8 s; at a pace that doubles every half second they are 2.1 s.
  expect(await longestAsideMs()).toBeLessThan(2_500)
  expect(await longestAsideMs()).toBeGreaterThan(11_000)
  line.close()
})
