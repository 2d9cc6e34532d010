import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { coalesceWhileBusy, type Gathering } from './coalesce.ts'

/** At work for half of the time at most. */
const half: Gathering = { times: 1, mostMs: 20 }

/** Work that ends when the test ends it, and records its groups. */
function setStage(refuse: (items: readonly string[]) => boolean = () => false, gathering = half) {
  let isUrgent = false
  const groups: string[][] = []
  const begun: (() => void)[] = []
  const ask = coalesceWhileBusy<string, string>(
    async (items) => {
      groups.push([...items])
      await new Promise<void>((resolve) => begun.push(resolve))
      if (refuse(items)) throw new Error(`refused ${items.join()}`)
      return items.map((item) => (item.startsWith('bad') ? { error: new Error(item) } : { ok: `${item}!` }))
    },
    (item) => item.split(':')[0] ?? item,
    { isUrgent: () => isUrgent, gathering },
  )
  const askAtOnce = (item: string) => {
    isUrgent = true
    const asked = ask(item)
    isUrgent = false
    return asked
  }
  async function end(count = 1): Promise<void> {
    while (begun.length < count) await new Promise((resolve) => setImmediate(resolve))
    for (const resolve of begun.splice(0, count)) resolve()
  }
  return { groups, ask, askAtOnce, end }
}

test('items that arrive while a group is running form the next group, and each gets its own result', async () => {
  const { groups, ask, end } = setStage()
  const first = ask('a')
  while (groups.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const later = ['b', 'bad', 'c'].map((item) => ask(item))
  await end()
  expect(await first).toBe('a!')
  await end()
  expect(await Promise.allSettled(later)).toMatchObject([
    { value: 'b!' },
    { reason: { message: 'bad' } },
    { value: 'c!' },
  ])
  expect(groups).toEqual([['a'], ['b', 'bad', 'c']])
})

test('two items of one key are never in one group, and keep their order', async () => {
  const { groups, ask, end } = setStage()
  const all = Promise.all([ask('a:1'), ask('b'), ask('a:2'), ask('c')])
  await end()
  await end()
  expect(await all).toEqual(['a:1!', 'b!', 'a:2!', 'c!'])
  expect(groups).toEqual([['a:1', 'b', 'c'], ['a:2']])
})

test('a group that fails is tried again item by item: only the bad item fails', async () => {
  const { groups, ask, end } = setStage((items) => items.includes('poison'))
  const all = Promise.allSettled([ask('a'), ask('poison'), ask('b')])
  await end()
  await end(3)
  expect(await all).toMatchObject([
    { value: 'a!' },
    { reason: { message: 'refused poison' } },
    { value: 'b!' },
  ])
  expect(groups).toEqual([['a', 'poison', 'b'], ['a'], ['poison'], ['b']])
  const after = ask('c')
  await end()
  expect(await after).toBe('c!')
})

test('others have a turn of the event loop before all callers of a group have gone on', async () => {
  const { ask, end } = setStage()
  const done: string[] = []
  const all = Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map(async (item) => {
      done.push(await ask(item))
      if (item === 'a') setImmediate(() => done.push('other'))
    }),
  )
  await end()
  await all
  expect(done).toEqual(['a!', 'b!', 'c!', 'd!', 'other', 'e!'])
})

test.each([[[]], [undefined]])('an item without a result fails (results: %j)', async (results) => {
  const work = async () => results as never
  const ask = coalesceWhileBusy<string, string>(work, String, { isUrgent: () => false, gathering: half })
  for (const { status } of await Promise.allSettled([ask('a'), ask('b')])) expect(status).toBe('rejected')
})

test('a group has a maximum size', async () => {
  const { groups, ask, end } = setStage()
  const all = Promise.all(Array.from({ length: 100 }, (_, index) => ask(`item-${index}`)))
  await end()
  await end()
  expect(await all).toHaveLength(100)
  expect(groups.map((group) => group.length)).toEqual([64, 36])
})

describe('a busy line', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  test.each([
    [8, 8],
    [500, 20],
  ])('gathers after a group of %i ms for %i ms', async (tookMs, gatherMs) => {
    const { groups, ask, end } = setStage()
    const all = [ask('a')]
    await turns()
    expect(groups).toEqual([['a']])
    all.push(ask('b'))
    vi.advanceTimersByTime(tookMs)
    await end()
    await turns()
    vi.advanceTimersByTime(gatherMs - 1)
    all.push(ask('c'))
    await turns()
    expect(groups).toEqual([['a']])
    vi.advanceTimersByTime(1)
    await end()
    expect(groups).toEqual([['a'], ['b', 'c']])
    expect(await Promise.all(all)).toEqual(['a!', 'b!', 'c!'])
  })

  test.each([
    [8, 48],
    [500, 150],
  ])('gathers as often as it is told: after %i ms for %i ms', async (tookMs, gatherMs) => {
    const { groups, ask, end } = setStage(() => false, { times: 6, mostMs: 150 })
    const all = [ask('a')]
    await turns()
    all.push(ask('b'))
    vi.advanceTimersByTime(tookMs)
    await end()
    await turns()
    vi.advanceTimersByTime(gatherMs - 1)
    await turns()
    expect(groups).toEqual([['a']])
    vi.advanceTimersByTime(1)
    await end()
    expect(await Promise.all(all)).toEqual(['a!', 'b!'])
  })

  test('does not wait where the last group is longer ago than it took', async () => {
    const { groups, ask, end } = setStage()
    const first = ask('a')
    await turns()
    vi.advanceTimersByTime(10)
    await end()
    await first
    await turns()
    vi.advanceTimersByTime(10)
    const second = ask('b')
    await end()
    await second
    expect(groups).toEqual([['a'], ['b']])
  })

  test('begins a full group at once', async () => {
    const { groups, ask, end } = setStage()
    const all = [ask('a'), ...['b', 'c'].map((item) => ask(item))]
    await turns()
    all.push(ask('d'))
    vi.advanceTimersByTime(10)
    await end()
    await turns()
    expect(groups).toHaveLength(1)
    for (let index = 0; index < 63; index += 1) all.push(ask(`item-${index}`))
    await end()
    expect(groups.map((group) => group.length)).toEqual([3, 64])
    await Promise.all(all)
  })

  test('waits for the rest of a group, as long as groups are of several and items come', async () => {
    const { groups, ask, end } = setStage(() => false, { times: 1, mostMs: 12, quietMs: 5 })
    const all = [ask('a'), ask('b')]
    await turns()
    expect(groups).toEqual([['a', 'b']])
    await end()
    await turns()
    vi.advanceTimersByTime(1_000)
    all.push(ask('c'))
    await turns()
    vi.advanceTimersByTime(4)
    all.push(ask('d'))
    await turns()
    vi.advanceTimersByTime(1)
    await turns()
    vi.advanceTimersByTime(4)
    await turns()
    expect(groups).toHaveLength(1)
    vi.advanceTimersByTime(1)
    await end()
    await turns()
    expect(groups[1]).toEqual(['c', 'd'])
    // The last group was of several.
    vi.advanceTimersByTime(1_000)
    all.push(ask('e'))
    await turns()
    expect(groups).toHaveLength(2)
    vi.advanceTimersByTime(5)
    await end()
    await turns()
    expect(groups[2]).toEqual(['e'])
    // The last one was not.
    vi.advanceTimersByTime(1_000)
    all.push(ask('f'))
    await end()
    await Promise.all(all)
    expect(groups[3]).toEqual(['f'])
  })

  test('waits no longer than it is told for items that keep coming, and begins a full group at once', async () => {
    const { groups, ask, end } = setStage(() => false, { times: 1, mostMs: 12, quietMs: 5 })
    const all = [ask('a'), ask('b')]
    await end()
    await turns()
    vi.advanceTimersByTime(1_000)
    all.push(ask('c'))
    await turns()
    for (const item of ['d', 'e', 'f']) {
      all.push(ask(item))
      vi.advanceTimersByTime(5)
      await turns()
    }
    expect(groups[1]).toEqual(['c', 'd', 'e', 'f'])
    await end()
    await turns()
    vi.advanceTimersByTime(1_000)
    for (let index = 0; index < 64; index += 1) all.push(ask(`item-${index}`))
    await end()
    expect(groups[2]).toHaveLength(64)
    await Promise.all(all)
  })

  test('leaves urgent items to a line of their own, which waits for no group and gathers none', async () => {
    const { groups, ask, askAtOnce, end } = setStage()
    const all = [ask('a')]
    await turns()
    all.push(askAtOnce('press'), ask('b'))
    await turns()
    expect(groups).toEqual([['a'], ['press']])
    // Another one of a key that is in the group that is running.
    all.push(askAtOnce('a'), askAtOnce('second'))
    vi.advanceTimersByTime(10)
    await end(2)
    await turns()
    expect(groups.slice(2)).toEqual([['a', 'second']])
    vi.advanceTimersByTime(10)
    await end(2)
    expect(groups.slice(3)).toEqual([['b']])
    expect(await Promise.all(all)).toEqual(['a!', 'press!', 'b!', 'a!', 'second!'])
  })

  test('has its urgent items done in the context of somebody urgent, and the others in none', async () => {
    const urgent = new AsyncLocalStorage<boolean>()
    const done: [items: readonly string[], isUrgent: boolean][] = []
    const ask = coalesceWhileBusy<string, string>(
      async (items) => {
        await new Promise((resolve) => setImmediate(resolve))
        done.push([items, urgent.getStore() === true])
        return items.map((item) => ({ ok: item }))
      },
      (item) => item,
      { isUrgent: () => urgent.getStore() === true, gathering: half },
    )
    const press = (item: string) => urgent.run(true, () => ask(item))
    const all = [press('press'), ask('a'), press('second'), ask('b')]
    await turns()
    vi.advanceTimersByTime(20)
    await Promise.all(all)
    expect(done).toEqual([
      [['press', 'second'], true],
      [['a', 'b'], false],
    ])
  })
})
