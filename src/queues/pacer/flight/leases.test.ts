import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedRedis } from '../../embedded-redis.ts'
import { readTakeReply } from '../shared-state.ts'
import { seeded } from '../simulation.ts'
import { takeScript } from '../token-script.ts'
import { defaultTokenSettings, type Pace } from '../token.ts'
import { leaseMs, leaseSlots, turnMs, type Leases, type SlotsAsked } from './leases.ts'

const start = 1_800_000_000_000
const open: Pace = { intervalMs: 1, notBeforeMs: 0, setAtMs: 0, epoch: 0, windows: [] }

/** Processes that ask one after the other and use what they are given. */
function pool(limit: number, wants: Record<string, number>) {
  let leases: Leases = {}
  let testTaken = 0
  const underWay: Record<string, number> = {}
  const ask = (process: string, nowMs: number, change: Partial<SlotsAsked> & { test?: number } = {}) => {
    const asked = {
      process,
      underWay: underWay[process] ?? 0,
      want: wants[process] ?? 0,
      hot: false,
      ...change,
    }
    const leased = leaseSlots(leases, testTaken, { limit, test: change.test ?? 0 }, asked, nowMs)
    leases = leased.leases
    testTaken = leased.testTaken
    underWay[process] = Math.min(asked.want, leased.given.share)
    return leased.given
  }
  return { ask, underWay, leases: () => leases }
}

describe('leaseSlots', () => {
  it('divides the slots evenly among those that want them, and leaves to none more than it wants', () => {
    const { ask, underWay } = pool(10, { a: 50, b: 1, c: 50 })
    for (let round = 0; round < 3; round += 1) for (const process of ['a', 'b', 'c']) ask(process, start)
    expect(Object.values(underWay).reduce((sum, n) => sum + n)).toBe(10)
    expect(underWay['b']).toBe(1)
    expect(Math.abs(underWay['a']! - underWay['c']!)).toBeLessThanOrEqual(1)
  })

  it('gives nobody a slot that another still has under way', () => {
    const { ask } = pool(4, { a: 9, b: 9 })
    expect(ask('a', start)).toMatchObject({ share: 4, held: 4 })
    expect(ask('b', start)).toMatchObject({ share: 0, held: 0 })
    expect(ask('a', start, { underWay: 4 })).toMatchObject({ share: 2, held: 4 })
    expect(ask('b', start)).toMatchObject({ share: 0 })
    expect(ask('a', start, { underWay: 3 })).toMatchObject({ share: 2, held: 3 })
    expect(ask('b', start)).toMatchObject({ share: 1 })
  })

  it('goes round when there are more processes than slots, so that none starves', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { ask, underWay } = pool(2, Object.fromEntries(names.map((name) => [name, 9])))
    const had = new Set<string>()
    for (let atMs = start; atMs < start + 5 * turnMs; atMs += 50) {
      for (const name of names) if (ask(name, atMs).share > 0) had.add(name)
      expect(Object.values(underWay).reduce((sum, n) => sum + n)).toBeLessThanOrEqual(2)
    }
    expect([...had].sort()).toEqual(names)
  })

  it('gives a process with a press its turn first', () => {
    const names = ['a', 'b', 'c']
    const { ask } = pool(1, Object.fromEntries(names.map((name) => [name, 9])))
    const shares = new Map<string, number>()
    for (let round = 0; round < 4; round += 1) {
      for (const name of names) shares.set(name, ask(name, start, { hot: name === 'c' }).share)
    }
    expect(Object.fromEntries(shares)).toEqual({ a: 0, b: 0, c: 1 })
  })

  it('a dead process keeps its slots for three seconds and no longer', () => {
    const { ask } = pool(3, { dead: 9, alive: 9 })
    expect(ask('dead', start).share).toBe(3)
    expect(ask('alive', start + leaseMs - 1).share).toBe(0)
    expect(ask('alive', start + leaseMs).share).toBe(3)
  })

  it('keeps no slots for long after the clock was set back', () => {
    const { ask } = pool(3, { a: 9, b: 9 })
    ask('a', start)
    const back = start - 3_600_000
    expect(ask('b', back).share).toBe(0)
    expect(ask('b', back + leaseMs).share).toBe(3)
  })

  it('gives the slot of a test once, and only while all others are given', () => {
    const { ask } = pool(3, { a: 9 })
    expect(ask('a', start, { test: 1, want: 2 })).toMatchObject({ isTest: false })
    expect(ask('a', start, { test: 1 })).toMatchObject({ isTest: true, share: 4, held: 3 })
    expect(ask('a', start, { test: 1 })).toMatchObject({ isTest: false, share: 3 })
    expect(ask('a', start, { test: 2 })).toMatchObject({ isTest: true })
  })

  it('keeps nothing of a process that has and wants nothing', () => {
    const { ask, leases } = pool(3, { a: 2 })
    ask('a', start)
    ask('a', start, { underWay: 0, want: 0 })
    expect(leases()).toEqual({})
  })
})

describe('the leases of the take script', () => {
  let server: Awaited<ReturnType<typeof startEmbeddedRedis>>
  let redis: Redis
  beforeAll(async () => {
    server = await startEmbeddedRedis()
    redis = new Redis(server.url, { maxRetriesPerRequest: 1 })
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })

  it.each([1, 2, 3, 4])('are the same as those of the model (seed %i)', async (seed) => {
    const random = seeded(seed)
    const pick = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
    const key = `leases:${seed}`
    let leases: Leases = {}
    let testTaken = 0
    let flight = { limit: 3, test: 0 }
    let now = start
    for (let step = 0; step < 200; step += 1) {
      now += random() < 0.05 ? pick(0, 5_000) : pick(0, 90) + random()
      if (random() < 0.02) now -= pick(0, 20_000)
      if (step % 15 === 0) flight = { limit: pick(1, 12), test: flight.test + pick(0, 1) }
      await redis.hset(key, 'pace', JSON.stringify({ ...open, flight }), 'version', '1')
      const asked = {
        process: `process ${pick(1, 5)}`,
        underWay: pick(0, 4),
        want: pick(0, 9),
        hot: random() < 0.2,
      }
      const expected = leaseSlots(leases, testTaken, flight, asked, now)
      leases = expected.leases
      testTaken = expected.testTaken
      const { horizonMs, slackMs, hotShare, hotPresenceMs } = defaultTokenSettings
      const limits = [0, 0, horizonMs, slackMs, hotShare, '', '', now, hotPresenceMs]
      const own = [asked.process, asked.underWay, asked.want, asked.hot ? 1 : 0]
      const reply = await redis.eval(takeScript, 1, key, ...limits, ...own)
      const { slots } = readTakeReply(reply as Parameters<typeof readTakeReply>[0])
      expect(slots, `seed ${seed} step ${step}`).toEqual(expected.given)
      expect(JSON.parse((await redis.hget(key, 'leases'))!)).toEqual(leases)
    }
  })

  it('are not read or written while no limit is known', async () => {
    await redis.hset('none', 'pace', JSON.stringify(open), 'version', '1')
    const { horizonMs, slackMs, hotShare, hotPresenceMs } = defaultTokenSettings
    const limits = [0, 1, horizonMs, slackMs, hotShare, '', '', start, hotPresenceMs]
    const reply = await redis.eval(takeScript, 1, 'none', ...limits, 'a', 0, 1, 0)
    expect(readTakeReply(reply as Parameters<typeof readTakeReply>[0]).slots).toBeUndefined()
    expect(await redis.hexists('none', 'leases')).toBe(0)
  })
})
