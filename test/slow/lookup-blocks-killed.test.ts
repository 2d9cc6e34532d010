import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { lookupJobId } from '../../src/queues/jobs.ts'
import { keysOf, much, openBlockWorld, type BlockWorld } from '../integration/lookup-blocks.fixture.ts'

// Each test has a row in the table of docs/decisions/0057-blocks-of-lookups.md.
let world: BlockWorld
beforeEach(async () => void (world = await openBlockWorld()))
afterEach(() => world.close())

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 10 })

test('killed between claims and blocks: the claims hold nothing, and are removed when nobody takes them over', async () => {
  const { queues } = await world.startProcess()
  const keys = keysOf(40)
  await world.claims.claim(keys, 16)
  expect(Object.keys(await world.claimed())).toHaveLength(40)
  expect(await queues.countLookups('background')).toBe(0)
  expect(await queues.countJobsOf(keys)).toBe(0)
  await queues.addLookups('background', keys, much)
  expect(await queues.countLookups('background')).toBe(40)
  expect(await world.ids('wait')).toHaveLength(3)

  const old = `wb${Math.floor(Date.now() / 1000) - 61}-00-0`
  const young = `wb${Math.floor(Date.now() / 1000)}-00-0`
  await world.redis.hset(`${world.prefix}:lookup-claims`, { old, young })
  expect(await queues.countLookups('background')).toBe(40)
  expect(Object.keys(await world.claimed())).not.toContain('old')
  expect(Object.keys(await world.claimed())).toContain('young')
})

test('killed between claims and blocks, another has taken the lookups over: the first block begins none of them', async () => {
  const process = await world.startProcess()
  const keys = keysOf(16)
  const [first] = await world.claims.claim(keys, 16)
  await process.queues.addLookups('background', keys, much)
  const [second] = await world.ids('wait')
  expect(second).not.toBe(first?.id)
  const held = await world.claims.step([
    { id: first?.id ?? '', token: '', ended: keys.map(lookupJobId), begin: keys.map(lookupJobId) },
  ])
  expect(held).toEqual(keys.map(() => 'lost'))
  expect(await process.queues.countLookups('background')).toBe(16)

  // The first process was slow, not dead: its block comes, a worker has its lock, and the lookups are the second block's.
  await world.redis.set(`${world.prefix}:lookup-block:${first?.id}:lock`, 'token', 'PX', 60_000)
  const slow = { id: first?.id ?? '', token: 'token', ended: [], begin: keys.map(lookupJobId) }
  expect(await world.claims.step([slow])).toEqual(keys.map(() => 'gone'))
})

test('killed in the middle of a block: another does what was under way and what waited, and nothing that had ended', async () => {
  const dying = await world.startProcess()
  const keys = keysOf(16)
  const done: LookupKey[] = []
  const first = dying.work(4, async (key) => {
    if (first.starts.length > 8) return new Promise<void>(() => {})
    done.push(key)
  })
  await dying.queues.addLookups('background', keys, much)
  await until(() => expect(first.starts).toHaveLength(12))
  // An end is known to Redis a turn later.
  await until(async () => expect(Object.keys(await world.claimed())).toHaveLength(8))
  await dying.kill()
  const other = await world.startProcess()
  // No other process adds them again while the block lives.
  await other.queues.addLookups('background', keys.slice(8), much)
  expect(await other.queues.countLookups('background')).toBe(8)
  const starts: number[] = []
  const second = other.work(4, async (_, times) => void starts.push(times))
  await world.expireLocks()
  await until(async () => expect(await other.queues.countLookups('background')).toBe(0))
  expect(second.starts.sort()).toEqual(keys.filter((key) => !done.includes(key)).sort())
  expect(starts).toEqual(Array.from({ length: 8 }, () => 2))
  await until(async () => expect(await world.ids('active')).toEqual([]))
  expect(other.errors).toEqual([])
})

test('a process that sleeps past its lock begins nothing more of its block', async () => {
  const process = await world.startProcess()
  const keys = keysOf(16)
  const ends: (() => void)[] = []
  const worker = process.work(2, () => new Promise<void>((resolve) => void ends.push(resolve)))
  await process.queues.addLookups('background', keys, much)
  await until(() => expect(worker.starts).toHaveLength(2))
  const [id] = await world.ids('active')
  await world.redis.set(`${world.prefix}:lookup-block:${id}:lock`, 'of another worker', 'PX', 60_000)
  for (const end of ends) end()
  // Its own two are ended; the others are for who has the lock.
  await until(async () => expect(Object.keys(await world.claimed())).toHaveLength(14))
  await until(() => expect(process.errors.join()).toMatch(/lock|finished/i))
  expect(worker.starts).toHaveLength(2)
  expect(Object.values(await world.claimed()).every((claim) => claim.startsWith('w'))).toBe(true)
})

test('the lock of a block is kept for as long as one of its lookups takes', async () => {
  const process = await world.startProcess()
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const worker = process.work(2, () => mayEnd)
  await process.queues.addLookups('background', keysOf(2), much)
  await until(() => expect(worker.starts).toHaveLength(2))
  const [id] = await world.ids('active')
  const leftMs = () => world.redis.pttl(`${world.prefix}:lookup-block:${id}:lock`)
  let least = await leftMs()
  await until(async () => {
    const now = await leftMs()
    least = Math.min(least, now)
    expect(now).toBeGreaterThan(least + 5_000)
  })
  end()
  await until(async () => expect(await world.ids('active')).toEqual([]))
  expect(process.errors).toEqual([])
})

test('killed when the last claim is gone and the block is not: the next worker ends it without a lookup', async () => {
  const process = await world.startProcess()
  await process.queues.addLookups('background', keysOf(16), much)
  await world.redis.del(`${world.prefix}:lookup-claims`)
  const worker = process.work(4, async () => {})
  await until(async () => expect([...(await world.ids('wait')), ...(await world.ids('active'))]).toEqual([]))
  expect(worker.starts).toEqual([])
  expect(process.errors).toEqual([])
})

test('killed between the job of a lookup that comes again and its claim: it is left to the job', async () => {
  const dying = await world.startProcess()
  const [key, ...rest] = keysOf(16) as [LookupKey, ...LookupKey[]]
  await dying.queues.addLookups('background', [key, ...rest], much)
  // A job as the worker adds it, beside the claim.
  const claims = await world.claimed()
  await world.redis.del(`${world.prefix}:lookup-claims`)
  await dying.queues.addLookups('background', [key])
  await world.redis.hset(`${world.prefix}:lookup-claims`, claims)
  const process = await world.startProcess()
  const worker = process.work(4, async () => {})
  await until(async () => expect(await process.queues.countLookups('background')).toBe(0))
  expect(worker.starts.sort()).toEqual([key, ...rest].sort())
})

test('Redis is emptied in the middle: nothing more of the block begins, and what is added again is done', async () => {
  const process = await world.startProcess()
  const { queues } = process
  const keys = keysOf(32)
  let isHeld = true
  const ends: (() => void)[] = []
  const worker = process.work(4, async () => {
    if (isHeld) await new Promise<void>((resolve) => void ends.push(resolve))
  })
  expect(await queues.wasEmptied()).toBe(true)
  await queues.addLookups('background', keys, much)
  await until(() => expect(worker.starts).toHaveLength(4))
  await world.empty()
  expect(await queues.wasEmptied()).toBe(true)
  expect(await queues.countLookups('background')).toBe(0)
  isHeld = false
  for (const end of ends) end()
  await until(() => expect(process.errors.join()).toMatch(/missing|lock/i))
  expect(worker.starts).toHaveLength(4)
  await queues.addLookups('background', keys, much)
  await until(async () => expect(await queues.countLookups('background')).toBe(0))
  expect(worker.starts).toHaveLength(4 + 32)
  expect(worker.starts.slice(4).sort()).toEqual([...keys].sort())
})

test('a process that closes gives back what it has not begun at once, and waits for what is under way', async () => {
  const [closing, other] = [await world.startProcess(), await world.startProcess()]
  const keys = keysOf(16)
  const ends: (() => void)[] = []
  const first = closing.work(2, () => new Promise<void>((resolve) => void ends.push(resolve)))
  await closing.queues.addLookups('background', keys, much)
  await until(() => expect(first.starts).toHaveLength(2))
  let isClosed = false
  const closed = first.close(30_000).then(() => (isClosed = true))
  const second = other.work(4, async () => {})
  await until(() => expect(second.starts).toHaveLength(14))
  expect(isClosed).toBe(false)
  for (const end of ends) end()
  await closed
  expect(await other.queues.countLookups('background')).toBe(0)
  expect([...first.starts, ...second.starts].sort()).toEqual([...keys].sort())
  expect(await world.ids('active')).toEqual([])
  expect([...closing.errors, ...other.errors]).toEqual([])
})

test('a process that closes abandons after its grace what does not end, and another does that alone', async () => {
  const [closing, other] = [await world.startProcess(), await world.startProcess()]
  const keys = keysOf(8)
  const first = closing.work(2, (key) => (key === keys[0] ? new Promise<void>(() => {}) : Promise.resolve()))
  await closing.queues.addLookups('background', keys, much)
  await until(() => expect(first.starts).toHaveLength(8))
  await until(async () => expect(Object.keys(await world.claimed())).toHaveLength(1))
  await first.close(10)
  const second = other.work(2, async () => {})
  await world.expireLocks()
  await until(() => expect(second.starts).toEqual([keys[0]]))
  await until(async () => expect(await other.queues.countLookups('background')).toBe(0))
})

test('jobs of their own that wait for a slot go back when the process closes', async () => {
  const [closing, other] = [await world.startProcess(), await world.startProcess()]
  const ends: (() => void)[] = []
  const first = closing.work(2, () => new Promise<void>((resolve) => void ends.push(resolve)))
  const block = keysOf(2, 'block')
  await closing.queues.addLookups('background', block, much)
  await until(() => expect(first.starts).toHaveLength(2))
  const own = keysOf(4, 'own')
  await closing.queues.addLookups('background', own)
  await until(async () => expect(await world.redis.llen(`${world.prefix}:lookup:active`)).toBe(2))
  const closed = first.close(30_000)
  const second = other.work(4, async () => {})
  await until(() => expect(second.starts.sort()).toEqual([...own].sort()))
  for (const end of ends) end()
  await closed
})
