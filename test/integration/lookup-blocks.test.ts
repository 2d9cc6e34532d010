import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueueBoard } from '../../src/queues/board.ts'
import { createQueueDepths } from '../../src/queues/depths.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { QueueTelemetry } from '../../src/queues/telemetry.ts'
import { keysOf, much, openBlockWorld, type BlockWorld } from './lookup-blocks.fixture.ts'

let world: BlockWorld
beforeEach(async () => void (world = await openBlockWorld()))
afterEach(() => world.close())

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })
const soon = () => new Promise<void>((resolve) => setTimeout(resolve, 2))

test('two processes do each lookup of many blocks once, with no more under way than they have slots', async () => {
  const [one, two] = [await world.startProcess(), await world.startProcess()]
  const keys = keysOf(600)
  const most = { one: 0, two: 0 }
  const counted = (name: 'one' | 'two') => {
    let underWay = 0
    return async () => {
      underWay += 1
      most[name] = Math.max(most[name], underWay)
      await soon()
      underWay -= 1
    }
  }
  const workers = [one.work(24, counted('one')), two.work(24, counted('two'))]
  await one.queues.addLookups('background', keys)
  await until(async () => expect(await one.queues.countLookups('background')).toBe(0))
  const [first, second] = workers.map(({ starts }) => starts) as [LookupKey[], LookupKey[]]
  expect([...first, ...second].sort()).toEqual([...keys].sort())
  expect(Math.min(first.length, second.length)).toBeGreaterThan(100)
  expect(most.one).toBeLessThanOrEqual(24)
  expect(most.two).toBeLessThanOrEqual(24)
  // Nothing of a job is left, and no claim.
  await until(async () => expect(await world.ids('active')).toEqual([]))
  expect((await world.everyKey()).filter((key) => /lookup-claims|lookup(-block)?:[bk]/.test(key))).toEqual([])
  expect([...one.errors, ...two.errors]).toEqual([])
})

test('many are put together, and few have jobs of their own', async () => {
  const { queues } = await world.startProcess()
  await queues.addLookups('background', keysOf(31, 'few'))
  expect(await world.ids('wait')).toHaveLength(0)
  expect(await queues.countLookups('background')).toBe(31)
  await queues.addLookups('background', keysOf(64, 'some'), 31)
  expect(await world.ids('wait')).toHaveLength(Math.ceil(64 / 5))
  await queues.addLookups('background', keysOf(300, 'many'), 95)
  expect(await world.ids('wait')).toHaveLength(Math.ceil(64 / 5) + Math.ceil(300 / 16))
  expect(await queues.countLookups('background')).toBe(395)
})

test('what waits, is under way or comes again is not added a second time, in a block or by itself', async () => {
  const process = await world.startProcess()
  const { queues } = process
  const [again, slow, ...waiting] = keysOf(40) as [LookupKey, LookupKey, ...LookupKey[]]
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const addAll = async () => {
    await queues.addLookups('background', [again, slow, ...waiting], much)
    await queues.addLookups('background', [again, slow], 0)
  }
  await addAll()
  await addAll()
  expect(await queues.countLookups('background')).toBe(40)
  const worker = process.work(2, async (key, starts) => {
    if (key === again && starts === 1) return { againInMs: 1_000 }
    await mayEnd
  })
  await until(() => expect(worker.starts).toContain(slow))
  await until(async () => expect(await world.redis.zcard(`${world.prefix}:lookup:delayed`)).toBe(1))
  await until(async () => expect(Object.keys(await world.claimed())).toHaveLength(39))
  await addAll()
  expect(await queues.countLookups('background')).toBe(40)
  end()
  await until(async () => expect(await queues.countLookups('background')).toBe(0))
  expect(worker.starts.filter((key) => key === again)).toHaveLength(2)
  expect(worker.starts).toHaveLength(41)
  expect(process.errors).toEqual([])
})

test('a lookup that comes again counts its starts on, and a job of before has the other form', async () => {
  const process = await world.startProcess()
  const [one, other] = keysOf(2) as [LookupKey, LookupKey]
  const seen: [LookupKey, number][] = []
  process.work(4, async (key, starts) => {
    seen.push([key, starts])
    return key === one && starts < 4 ? { againInMs: 1 } : undefined
  })
  await process.queues.addLookups('background', [one], much)
  // A process of the version before puts each lookup into a job of its own.
  await process.queues.addLookups('background', [other])
  await until(async () => expect(await process.queues.countLookups('background')).toBe(0))
  expect(seen.filter(([key]) => key === one)).toEqual([1, 2, 3, 4].map((starts) => [one, starts]))
  expect(seen.filter(([key]) => key === other)).toEqual([[other, 1]])
})

test('a lookup that takes long holds up none of its block, and one that fails ends alone', async () => {
  const process = await world.startProcess()
  const keys = keysOf(16)
  const [slow, failing] = keys
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const worker = process.work(2, async (key) => {
    if (key === slow) await mayEnd
    if (key === failing) throw new Error('failed')
  })
  await process.queues.addLookups('background', keys, much)
  await until(async () => expect(await process.queues.countLookups('background')).toBe(1))
  expect(worker.starts).toHaveLength(16)
  expect(process.errors).toEqual(['failed'])
  // The ledger adds it again when its lease has ended, while its block is still there.
  await process.queues.addLookups('background', [failing as LookupKey], much)
  await until(() => expect(worker.starts).toHaveLength(17))
  end()
  await until(async () => expect(await process.queues.countLookups('background')).toBe(0))
})

test('a process whose slots are taken leaves blocks to others', async () => {
  const [busy, free] = [await world.startProcess(), await world.startProcess()]
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const first = busy.work(2, () => mayEnd)
  await busy.queues.addLookups('background', keysOf(48), much)
  await until(() => expect(first.starts).toHaveLength(2))
  const second = free.work(40, async () => {})
  await until(() => expect(second.starts).toHaveLength(32))
  // Its own two are ended a turn after the last of their lookups has begun.
  await until(async () => expect(await world.ids('active')).toHaveLength(1))
  end()
  await until(async () => expect(await busy.queues.countLookups('background')).toBe(0))
  expect(first.starts).toHaveLength(16)
})

test('a press takes a lookup out of a block that waits or is at hand, and leaves what a worker has begun', async () => {
  const process = await world.startProcess()
  const { queues } = process
  const keys = keysOf(16)
  const [begun, atHand, other] = keys as [LookupKey, LookupKey, LookupKey]
  const [waits] = keysOf(1, 'waits') as [LookupKey]
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const worker = process.work(1, () => mayEnd)
  await queues.addLookups('background', keys, much)
  await until(() => expect(worker.starts).toEqual([begun]))
  await queues.addLookups('background', [waits], much)
  await queues.hurryLookups([begun, atHand, waits])
  expect(await queues.countLookups('hot')).toBe(2)
  expect(await queues.countLookups('background')).toBe(15)
  expect(await queues.countJobsOf([begun, atHand, waits, other])).toBe(4)
  end()
  await until(async () => expect(await queues.countLookups('background')).toBe(0))
  expect(worker.starts.sort()).toEqual(keys.filter((key) => key !== atHand).sort())
})

test('a press finds a lookup that waits to come again', async () => {
  const process = await world.startProcess()
  const [key] = keysOf(1) as [LookupKey]
  process.work(1, async () => ({ againInMs: 60_000 }))
  await process.queues.addLookups('background', [key], much)
  await until(async () => expect(await world.redis.zcard(`${world.prefix}:lookup:delayed`)).toBe(1))
  await until(async () => expect(await world.claimed()).toEqual({}))
  await process.queues.hurryLookups([key])
  expect(await process.queues.countLookups('background')).toBe(0)
  expect(await process.queues.countLookups('hot')).toBe(1)
})

test('a forgotten lookup leaves no text in the data of its block, and its neighbours stay', async () => {
  const process = await world.startProcess()
  const keys = [...keysOf(3), 'person.profile|x.test/"quoted"-\\and' as LookupKey]
  const [one, two, , quoted] = keys as [LookupKey, LookupKey, LookupKey, LookupKey]
  await process.queues.addLookups('background', keys, much)
  expect(await process.queues.countJobsOf([one, two, quoted])).toBe(3)
  expect(await process.queues.dropLookups([one, quoted])).toBe(2)
  expect(await process.queues.dropLookups([one, quoted])).toBe(0)
  const text = await world.text()
  expect(text).toContain('acme-1')
  expect(text).not.toContain('acme-0')
  expect(text).not.toContain('quoted')
  const worker = process.work(4, async () => {})
  await until(async () => expect(await process.queues.countLookups('background')).toBe(0))
  expect(worker.starts).toEqual(keysOf(3).slice(1))
  await until(async () => expect(await world.ids('active')).toEqual([]))
})

test('lookups of a block are counted one by one, as waiting and as under way', async () => {
  const process = await world.startProcess()
  const settings = { prefix: world.prefix, onError: () => {} }
  const [board, depths] = [createQueueBoard(world.redis, settings), createQueueDepths(world.redis, settings)]
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  try {
    await process.queues.addLookups('background', keysOf(40), much)
    const worker = process.work(3, () => mayEnd)
    await until(() => expect(worker.starts).toHaveLength(3))
    expect(await board.depths()).toContainEqual({ name: 'lookup', waiting: 37, active: 3, delayed: 0 })
    const read = await depths.read()
    expect(read).toContainEqual({ queue: 'lookup', state: 'waiting', jobs: 37 })
    expect(read).toContainEqual({ queue: 'lookup', state: 'active', jobs: 3 })
    expect(new Set(read.map(({ queue }) => queue))).toEqual(
      new Set(['lookup', 'lookup-hot', 'write-back', 'schedule']),
    )
  } finally {
    end()
    await board.close()
    await depths.close()
  }
})

test('each lookup of a block has a trace of its own', async () => {
  const spans: { name: string; parent: string; id?: unknown; isEnded?: true }[] = []
  const telemetry = {
    contextManager: {
      active: () => 'active',
      root: () => 'root',
      with: (_: unknown, work: () => unknown) => work(),
      getMetadata: () => '',
      fromMetadata: () => 'active',
    },
    tracer: {
      startSpan(name: string, _: unknown, parent = 'active') {
        const span: (typeof spans)[number] = { name, parent }
        spans.push(span)
        return {
          setSpanOnContext: () => name,
          setAttribute: () => {},
          setAttributes: (attributes: Record<string, unknown>) => {
            span.id ??= attributes['bullmq.job.id']
          },
          addEvent: () => {},
          recordException: () => {},
          end: () => void (span.isEnded = true),
        }
      },
    },
  } as unknown as QueueTelemetry
  const process = await world.startProcess({ telemetry })
  process.work(8, soon)
  await process.queues.addLookups('background', keysOf(16), much)
  await until(async () => expect(await process.queues.countLookups('background')).toBe(0))
  const traced = spans.filter(({ name }) => name === 'process lookup')
  expect(new Set(traced.map(({ id }) => id)).size).toBe(16)
  expect(traced).toHaveLength(16)
  for (const span of traced) expect(span).toMatchObject({ parent: 'root', isEnded: true })
})
