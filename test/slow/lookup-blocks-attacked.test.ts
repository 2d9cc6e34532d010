import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Command, Redis } from 'ioredis'
import { createDice } from '../../src/sandbox/random.ts'
import { openCuttingProxy } from '../support/cutting-proxy.ts'
import { testSeed } from '../support/seed.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { lookupJobId } from '../../src/queues/jobs.ts'
import { keysOf, much, openBlockWorld, type BlockWorld } from '../integration/lookup-blocks.fixture.ts'

// Windows of a few milliseconds in which a lookup was left to nobody.
let world: BlockWorld
beforeEach(async () => void (world = await openBlockWorld()))
afterEach(() => world.close())

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })
const never = () => new Promise<void>(() => {})

test('a press finds a lookup that has its job to come again and still its claim', async () => {
  const { queues } = await world.startProcess()
  const [key, ...rest] = keysOf(16) as [LookupKey, ...LookupKey[]]
  // A job as the worker adds it when the lookup is to come again.
  await queues.addLookups('background', [key])
  const job = await world.redis.hgetall(`${world.prefix}:lookup:${lookupJobId(key)}`)
  await queues.dropLookups([key])
  await queues.addLookups('background', [key, ...rest], much)
  const [id] = (await world.ids('wait')) as [string]
  await world.redis.set(`${world.prefix}:lookup-block:${id}:lock`, 'token', 'PX', 60_000)
  const began = await world.claims.step([{ id, token: 'token', ended: [], begin: [lookupJobId(key)] }])
  expect(began).toEqual(['begun'])
  await world.redis.hset(`${world.prefix}:lookup:${lookupJobId(key)}`, job)
  await world.redis.zadd(`${world.prefix}:lookup:delayed`, Date.now() + 60_000, lookupJobId(key))

  await queues.hurryLookups([key])
  expect(await queues.countLookups('hot')).toBe(1)
})

test('what arrives after another fetch has failed begins too', async () => {
  const { queues, connection, ...process } = await world.startProcess()
  // Behind a block of one, as many are fetched at once as would be needed were all so small.
  await queues.addLookups('background', keysOf(1, 'one'), much)
  await queues.addLookups('background', keysOf(128), much)
  const redis = connection.redis as Redis
  const send = redis.sendCommand.bind(redis)
  let fetches = 0
  redis.sendCommand = (command: Command, ...rest: []) => {
    // BullMQ's script that takes a job has so many keys, of which this is the first.
    const [, keys, first] = command.args.map(String)
    const isFetch = keys === '11' && first === `${world.prefix}:lookup-block:wait`
    if (!isFetch || ++fetches !== 2) return send(command, ...rest)
    command.reject(new Error('READONLY'))
    return command.promise
  }
  const [one] = keysOf(1, 'one')
  // Nothing that ends makes it look again.
  const worker = process.work(8, (key) => (key === one ? never() : Promise.resolve()))
  await until(() => expect(worker.starts).toHaveLength(129))
  expect(process.errors).toEqual(['READONLY'])
})

test('a small block does not make a process take many large ones', async () => {
  const { queues, ...process } = await world.startProcess()
  await queues.addLookups('background', keysOf(1, 'one'), much)
  await queues.addLookups('background', keysOf(640), much)
  process.work(64, never)
  await until(async () => expect(await world.ids('active')).not.toHaveLength(0))
  await until(async () => expect(await queues.countLookups('background')).toBe(641))
  await until(async () => expect((await world.claims.count()).begun).toBe(64))
  // 1 + 4 · 16 would do.
  expect((await world.ids('active')).length).toBeLessThanOrEqual(7)
})

test('a process that closes gives back at once what a dead one had begun', async () => {
  const [closing, other] = [await world.startProcess(), await world.startProcess()]
  const keys = keysOf(16)
  await closing.queues.addLookups('background', keys, much)
  // As a worker leaves them that is killed.
  for (const [id, claim] of Object.entries(await world.claimed()))
    await world.redis.hset(`${world.prefix}:lookup-claims`, id, `b${claim.slice(1)}`)
  const ends: (() => void)[] = []
  const first = closing.work(2, () => new Promise<void>((resolve) => void ends.push(resolve)))
  await until(() => expect(ends).toHaveLength(2))
  const closed = first.close(30_000)
  const second = other.work(16, async () => {})
  await until(() => expect(second.starts).toHaveLength(14))
  for (const end of ends) end()
  await closed
  expect([...first.starts, ...second.starts].sort()).toEqual([...keys].sort())
})

test('a lane closes within its grace, whatever does not end', async () => {
  const { queues } = await world.startProcess()
  await queues.addLookups('hot', keysOf(1))
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const worker = queues.workLookups('hot', 2, () => (begin(), never()))
  await begun
  await expect(worker.close(50)).resolves.toBeUndefined()
}, 5_000)

test(
  'connections that are cut at random lose no lookup, no slot and no claim',
  { timeout: 120_000 },
  async () => {
    const { hostname: host, port } = new URL(world.url)
    const proxy = await openCuttingProxy({ host, port: Number(port) })
    try {
      const at = `redis://127.0.0.1:${proxy.port}`
      const [cut, whole] = [await world.startProcess({ at }), await world.startProcess()]
      const dice = createDice(`cuts ${testSeed()}`)
      const keys: LookupKey[] = []
      // The uncut process alone would soon have done any number that is fixed.
      const keepSupplied = async () => {
        if (keys.length - done.size > 300) return
        const next = keysOf(500, `batch-${keys.length}`)
        keys.push(...next)
        await whole.queues.addLookups('background', next)
      }
      const done = new Set<LookupKey>()
      const most = { cut: 0, whole: 0 }
      const working = (name: 'cut' | 'whole') => {
        let underWay = 0
        return async (key: LookupKey, starts: number) => {
          underWay += 1
          most[name] = Math.max(most[name], underWay)
          await new Promise((resolve) => setTimeout(resolve, dice.integer(2, 20)))
          underWay -= 1
          if (starts === 1 && dice.integer(1, 5) === 1) return { againInMs: 50 }
          done.add(key)
        }
      }
      await keepSupplied()
      const workers = [cut.work(16, working('cut')), whole.work(16, working('whole'))]
      // BullMQ gives up a worker whose second connection is cut as it begins.
      await until(() => expect(done.size).toBeGreaterThan(200))
      for (let cuts = 0; cuts < 10; cuts += 1) {
        proxy.arm({ from: dice.pick(['client', 'server'] as const), bytes: dice.integer(200, 20_000) })
        await until(async () => {
          await keepSupplied()
          expect(proxy.wasCut()).toBe(true)
        })
      }
      proxy.disarm()
      await vi.waitFor(async () => expect(await whole.queues.countLookups('background')).toBe(0), {
        timeout: 60_000,
        interval: 50,
      })
      expect(done.size).toBe(keys.length)
      expect(Math.max(most.cut, most.whole)).toBeLessThanOrEqual(16)
      // Every slot of the one that was cut off is free, and nobody else is there to do this.
      await workers[1]?.close(1_000)
      const more = keysOf(200, 'more')
      most.cut = 0
      await whole.queues.addLookups('background', more)
      await vi.waitFor(() => expect(more.filter((key) => done.has(key))).toHaveLength(200), {
        timeout: 40_000,
        interval: 20,
      })
      expect(most.cut).toBe(16)
      await until(async () => expect(await world.claimed()).toEqual({}))
    } finally {
      await proxy.close()
    }
  },
)
