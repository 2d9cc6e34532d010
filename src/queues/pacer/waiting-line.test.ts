import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { SharedState, TakeAnswer } from './shared-state.ts'
import { createGate } from './flight/gate.ts'
import { createWaitingLine } from './waiting-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function openGate() {
  return createGate('this', () => performance.now())
}

const noReports = { ripeVersion: () => undefined, refreshed: () => {} }

function lineOn(shared: SharedState, gate = openGate()) {
  return createWaitingLine(shared, { horizonMs: 20 }, gate, noReports)
}

const slowTokens = () => evenTokens(200)

/** A Redis that grants every request: a token each interval, up to 20 ms ahead. */
function evenTokens(intervalMs = 5, asks: number[] = []): SharedState {
  let lastMs = performance.now()
  const take: SharedState['take'] = async (wanted, _slots, { horizonMs }): Promise<TakeAnswer> => {
    const nowMs = performance.now()
    asks.push(wanted.hot + wanted.background)
    const grants: TakeAnswer['grants'] = []
    for (const lane of ['hot', 'background'] as const) {
      for (let left = wanted[lane]; left > 0 && lastMs + intervalMs <= nowMs + horizonMs; left -= 1) {
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
  const line = lineOn(evenTokens())
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

test('a hot request that has taken the token of another leaves as a hot one, and the other does not', async () => {
  const gate = openGate()
  const lanes = new Map<string, string>()
  vi.spyOn(gate, 'granted').mockImplementation((id, lane) => void lanes.set(id, lane))
  const line = lineOn(evenTokens(), gate)
  const take = async (lane: 'hot' | 'background') => {
    const answer = await line.take({ lane, maxWaitMs: 1_000 })
    return answer.granted ? lanes.get(answer.grantId) : undefined
  }
  const background = [1, 2, 3].map(() => take('background'))
  await vi.advanceTimersByTimeAsync(2)
  const hot = take('hot')
  await vi.advanceTimersByTimeAsync(100)
  expect(await hot).toBe('hot')
  expect(await Promise.all(background)).toEqual(['background', 'background', 'background'])
})

test('of two hot requests none takes the other’s token', async () => {
  const line = lineOn(evenTokens())
  const served: string[] = []
  const both = ['first', 'second'].map((name) =>
    line.take({ lane: 'hot', maxWaitMs: 1_000 }).then(() => served.push(name)),
  )
  await vi.advanceTimersByTimeAsync(100)
  await Promise.all(both)
  expect(served).toEqual(['first', 'second'])
})

test('requests laid aside at the first pace come back while it doubles, and later when it is their turn', async () => {
  const line = lineOn(slowTokens())
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

describe('at a high pace', () => {
  /** After this many requests, 4 ms apart, the pace counts as found. */
  const found = 1_300

  /** Requests that come one by one, `everyMs` apart. Returns when each was let go. */
  async function one(line: ReturnType<typeof lineOn>, everyMs: number, count: number): Promise<number[]> {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      void line.take({ lane: 'background', maxWaitMs: 2_000 }).then(() => times.push(performance.now()))
      await vi.advanceTimersByTimeAsync(everyMs)
    }
    return times
  }

  test('one call to Redis serves the requests of some tens of milliseconds, and each has its permit at once', async () => {
    const asks: number[] = []
    const line = lineOn(evenTokens(1, asks))
    await one(line, 4, found)
    asks.length = 0
    const beganMs = performance.now()
    const times = await one(line, 4, 200)
    expect(times).toHaveLength(200)
    for (const [i, atMs] of times.entries()) expect(atMs - beganMs - 4 * i).toBeLessThanOrEqual(1)
    expect(asks.length / 200).toBeLessThan(0.15)
    // No more is asked for than comes in 50 ms.
    expect(Math.max(...asks)).toBeLessThanOrEqual(14)
    line.close()
  })

  test('an idle process takes nothing ahead, and gives up what it holds', async () => {
    const asks: number[] = []
    const line = lineOn(evenTokens(1, asks))
    await one(line, 4, found)
    await vi.advanceTimersByTimeAsync(5_000)
    asks.length = 0
    await one(line, 1_000, 3)
    expect(asks).toEqual([1, 1, 1])
    line.close()
  })

  test('nothing is taken ahead while the pace is being found', async () => {
    const asks: number[] = []
    const line = lineOn(evenTokens(1, asks))
    await one(line, 4, 1_000)
    expect(Math.max(...asks)).toBe(1)
    line.close()
  })

  test('nothing is taken ahead at a low pace, nor where windows are counted', async () => {
    const place = { anchorMs: 0, lengthMs: 60_000, index: 1, ordinal: 1 }
    const even = evenTokens(1)
    const counted = {
      take: async (...wanted: Parameters<SharedState['take']>) => {
        const answer = await even.take(...wanted)
        asks.push(wanted[0].background)
        return { ...answer, grants: answer.grants.map((grant) => ({ ...grant, places: [place] })) }
      },
    } as unknown as SharedState
    const asks: number[] = []
    for (const line of [lineOn(evenTokens(4, asks)), lineOn(counted)]) {
      await one(line, 5, found)
      expect(Math.max(...asks)).toBe(1)
      expect(asks.length).toBe(found)
      asks.length = 0
      line.close()
    }
  })

  test('a press takes the earliest permit of its process, and none before its planned time', async () => {
    const asks: number[] = []
    const line = lineOn(evenTokens(1, asks))
    await one(line, 4, found)
    const served: string[] = []
    const take = (lane: Lane, name: string) =>
      line.take({ lane, maxWaitMs: 2_000 }).then(() => served.push(name))
    for (let i = 0; i < 30; i++) void take('background', `background ${i}`)
    await vi.advanceTimersByTimeAsync(2)
    const before = served.length
    const pressedMs = performance.now()
    const press = take('hot', 'press').then(() => performance.now() - pressedMs)
    await vi.advanceTimersByTimeAsync(100)
    expect(await press).toBeLessThanOrEqual(2)
    expect(served.indexOf('press')).toBeLessThanOrEqual(before + 2)
    expect(served).toHaveLength(31)
    line.close()
  })
})
