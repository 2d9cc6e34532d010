import { expect, test, vi } from 'vitest'
import { lookupKey, type LookupKey } from '../domain/keys.ts'
import type { LateLookup, Overlooked } from '../store/runs/waiting-tasks.ts'
import { startSweep } from './sweep.ts'

const key = (name: string) => lookupKey('company.profile', name)
const late = (name: string, isStopped: boolean): LateLookup => ({
  key: key(name),
  isStopped,
  reason: 'parked',
})

test('goes through all pages, and a task that cannot be planned blocks no other', async () => {
  const pages = new Map<string, Overlooked>([
    ['', { ended: [key('a'), key('broken'), key('b')], late: [], next: key('m') }],
    [key('m'), { ended: [], late: [late('n', true), late('o', false)], next: key('t') }],
    [key('t'), { ended: [key('z')], late: [] }],
  ])
  const advanced: LookupKey[] = []
  const past: LookupKey[] = []
  const parked: LookupKey[] = []
  const errors: unknown[] = []
  const flushed: unknown[] = []
  const { promise: allSeen, resolve: seen } = Promise.withResolvers<void>()
  const sweep = startSweep({
    tasks: {
      overlooked: async (after) => pages.get(after) ?? { ended: [], late: [] },
      parkLate: async (keys) => void parked.push(...keys),
      readyGroups: async () => [{ connector: 'hubspot', entity: 'companies' }],
    },
    advance: {
      async advanceTasksWaitingFor(keys) {
        if (keys.includes(key('broken'))) throw new Error('cannot be planned')
        advanced.push(...keys)
        if (keys.includes(key('z'))) seen()
      },
      advanceTasksPast: async (keys) => void past.push(...keys),
    },
    flush: (group) => void flushed.push(group),
    everyMs: 60_000,
    onError: (error) => void errors.push(error),
  })
  await allSeen
  await sweep.stop()
  expect(advanced).toEqual([key('a'), key('b'), key('z')])
  expect(flushed).toEqual([{ connector: 'hubspot', entity: 'companies' }])
  // A record goes past a stopped operation where it can, and is parked where it cannot.
  expect(past).toEqual([key('n')])
  expect(parked).toEqual([key('n'), key('o')])
  // Once for all of them, once for the one.
  expect(errors).toHaveLength(2)
})

test('after a long pass the next one comes later', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  try {
    let rounds = 0
    const sweep = startSweep({
      tasks: {
        async overlooked() {
          rounds += 1
          await new Promise((resolve) => setTimeout(resolve, 1_000))
          return { ended: [], late: [] }
        },
        parkLate: async () => {},
        readyGroups: async () => [],
      },
      advance: { advanceTasksWaitingFor: async () => {}, advanceTasksPast: async () => {} },
      flush: () => {},
      everyMs: 3_000,
      onError: (error) => {
        throw error
      },
    })
    await vi.advanceTimersByTimeAsync(20_900)
    expect(rounds).toBe(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(rounds).toBe(2)
    const stopped = sweep.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    await stopped
  } finally {
    vi.useRealTimers()
  }
})

test('pages of a later pass stand apart, by a minute in all, and a stop in a page waits for no pause', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  try {
    const lookedAtMs: number[] = []
    const beganMs = performance.now()
    let inPass = 3
    const sweep = startSweep({
      tasks: {
        async overlooked(after) {
          lookedAtMs.push(performance.now() - beganMs)
          await new Promise((resolve) => setTimeout(resolve, 10))
          const page = Number(after) + 1
          return { ended: [], late: [], next: page < inPass ? (String(page) as LookupKey) : undefined }
        },
        parkLate: async () => {},
        readyGroups: async () => [],
      },
      advance: { advanceTasksWaitingFor: async () => {}, advanceTasksPast: async () => {} },
      flush: () => {},
      everyMs: 3_000,
      onError: (error) => {
        throw error
      },
    })
    // The first pass has no pauses: it may have to go on with what another process has left.
    await vi.advanceTimersByTimeAsync(100)
    expect(lookedAtMs).toEqual([0, 10, 20])
    await vi.advanceTimersByTimeAsync(3_500)
    expect(lookedAtMs.slice(3)).toEqual([3_030, 3_240, 3_450])
    // 1,000 pages would have pauses of 200 seconds; a pass that is longer than the one before learns how long it is.
    inPass = 1_000
    lookedAtMs.length = 0
    while (lookedAtMs.length < 2_000) await vi.advanceTimersByTimeAsync(1_000)
    const spread = (pass: number[]) => (pass.at(-1) as number) - (pass[0] as number)
    expect(spread(lookedAtMs.slice(0, 1_000))).toBeCloseTo(999 * 10 + 60_000, -3)
    expect(spread(lookedAtMs.slice(1_000, 2_000))).toBeCloseTo(999 * (10 + 60), -2)
    const pages = lookedAtMs.length
    while (lookedAtMs.length === pages) await vi.advanceTimersByTimeAsync(1)
    const stopped = sweep.stop()
    await vi.advanceTimersByTimeAsync(10)
    await stopped
  } finally {
    vi.useRealTimers()
  }
})
