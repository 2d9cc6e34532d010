import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { lookupJobId } from '../../src/queues/jobs.ts'
import { keysOf, much, openBlockWorld, type BlockWorld } from './lookup-blocks.fixture.ts'

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
  const { redis } = connection
  const send = redis.sendCommand.bind(redis)
  let fetches = 0
  redis.sendCommand = (command, ...rest) => {
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

test('a lane closes within its grace, whatever does not end', async () => {
  const { queues } = await world.startProcess()
  await queues.addLookups('hot', keysOf(1))
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const worker = queues.workLookups('hot', 2, () => (begin(), never()))
  await begun
  await worker.close(50)
}, 5_000)
