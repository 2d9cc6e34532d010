import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test, vi } from 'vitest'
import type { LookupKey } from '../../domain/keys.ts'
import type { BlockStep, Claims } from './claims.ts'
import { createHeldBlocks } from './held-blocks.ts'
import { createSlots } from './slots.ts'

const keysOf = (count: number, name = 'a') =>
  Array.from({ length: count }, (_, n) => `company.profile|${name}${n}` as LookupKey)

function stage({
  size = 4,
  answer,
  isFetching = false,
}: { size?: number; answer?: (steps: readonly BlockStep[]) => unknown; isFetching?: boolean } = {}) {
  const told: BlockStep[][] = []
  const started: LookupKey[] = []
  const errors: string[] = []
  const ended: string[] = []
  const ends = new Map<LookupKey, () => void>()
  const slots = createSlots(size)
  const held = createHeldBlocks({
    claims: {
      step: (async (steps) => {
        told.push([...steps])
        return (answer?.(steps) ?? steps.flatMap(({ begin }) => begin.map(() => 'begun'))) as never
      }) satisfies Claims['step'],
    },
    slots,
    async work(key) {
      started.push(key)
      await new Promise<void>((resolve) => void ends.set(key, resolve))
    },
    fetch: () => isFetching,
    onError: ({ message }) => void errors.push(message),
  })
  return {
    held,
    slots,
    told,
    started,
    errors,
    ended,
    put(id: string, keys: LookupKey[]) {
      held.put({ id, token: 't', keys, end: () => void ended.push(id) })
      held.fetched()
    },
    finish: (keys: readonly LookupKey[]) => keys.forEach((key) => ends.get(key)?.()),
    turns: async () => {
      for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('what begins and ends in one turn, of several blocks, is one command', async () => {
  const { put, told, started, finish, turns, ended } = stage({ size: 4 })
  const [one, two] = [keysOf(3, 'one'), keysOf(3, 'two')]
  put('one', one)
  put('two', two)
  await turns()
  expect(told).toHaveLength(1)
  expect(started).toEqual([...one, two[0]])
  finish([...one, two[0] as LookupKey])
  await turns()
  expect(told).toHaveLength(2)
  expect(told[1]?.map(({ id, ended, begin }) => [id, ended.length, begin.length])).toEqual([
    ['one', 3, 0],
    ['two', 1, 2],
  ])
  expect(ended).toEqual(['one'])
  finish(two)
  await turns()
  expect(told).toHaveLength(3)
  expect(ended).toEqual(['one', 'two'])
})

test('with blocks on their way, what is at hand begins together with what comes', async () => {
  const { held, put, told, started, finish, turns } = stage({ size: 4, isFetching: true })
  const [one, two] = [keysOf(6, 'one'), keysOf(3, 'two')]
  put('one', one)
  await turns()
  expect(started).toHaveLength(4)
  finish(one.slice(0, 4))
  await turns()
  // Two are at hand for four free slots.
  expect([started.length, told.length]).toEqual([4, 1])
  put('two', two)
  await turns()
  expect(started).toEqual([...one, ...two.slice(0, 2)])
  expect(told).toHaveLength(2)
  finish([...one.slice(4), ...two])
  await turns()
  // A look that found nothing lets the rest begin, and what has ended is told.
  held.fetched()
  await turns()
  expect(started).toEqual([...one, ...two])
  expect(told.at(-1)?.flatMap(({ ended }) => ended)).toHaveLength(4)
})

test('slots of lookups that are gone are free for others at once', async () => {
  const { put, started, turns, ended } = stage({
    size: 2,
    answer: (steps) => steps.flatMap(({ id, begin }) => begin.map(() => (id === 'gone' ? 'gone' : 'begun'))),
  })
  put('gone', keysOf(5, 'gone'))
  const there = keysOf(2, 'there')
  put('there', there)
  for (let n = 0; n < 3; n += 1) await turns()
  expect(started).toEqual(there)
  expect(ended).toEqual(['gone'])
})

test('a step that failed is told again, with what ended meanwhile, and no slot is lost', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    let isAway = false
    const world = stage({
      size: 2,
      answer: () => {
        if (isAway) throw new Error('away')
      },
    })
    const keys = keysOf(4)
    world.put('block', keys)
    await world.turns()
    isAway = true
    world.finish(keys.slice(0, 2))
    await world.turns()
    expect(world.errors).toEqual(['away'])
    expect(world.started).toHaveLength(2)
    isAway = false
    await vi.advanceTimersByTimeAsync(1_000)
    await world.turns()
    expect(world.started).toEqual(keys)
    expect(world.told.at(-1)?.[0]).toMatchObject({ ended: { length: 2 }, begin: { length: 2 } })
    world.finish(keys)
    await world.turns()
    expect(world.ended).toEqual(['block'])
    expect(world.slots.free()).toBe(2)
    await world.held.idle()
  } finally {
    vi.useRealTimers()
  }
})

test('stopped while Redis is away, it keeps nothing that would have to begin', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const world = stage({
      size: 2,
      answer: () => {
        throw new Error('away')
      },
    })
    const keys = keysOf(4)
    world.put('block', keys)
    await world.turns()
    expect(world.held.stop()).toEqual(keys.slice(2))
    await vi.advanceTimersByTimeAsync(1_000)
    await world.turns()
    await world.held.idle()
    expect(world.ended).toEqual(['block'])
    expect(world.started).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('a lookup does not run in the context of the one whose end made room for it', async () => {
  const scope = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const slots = createSlots(1)
  const held = createHeldBlocks({
    claims: { step: async (steps) => steps.flatMap(({ begin }) => begin.map(() => 'begun' as const)) },
    slots,
    async work(key) {
      seen.push(scope.getStore())
      scope.enterWith(key)
      await Promise.resolve()
    },
    fetch: () => false,
    onError: () => {},
  })
  held.put({ id: 'block', token: 't', keys: keysOf(3), end: () => {} })
  held.fetched()
  await held.idle()
  expect(seen).toEqual([undefined, undefined, undefined])
})
