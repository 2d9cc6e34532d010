import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryCallBudget } from '../../src/connectors/budget.ts'
import type { CallBudget, CallLimit } from '../../src/domain/ports/call-budget.ts'
import { createCallBudget } from '../../src/queues/call-budget.ts'
import { openRedis, type RedisConnection } from '../../src/queues/connection.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const search: CallLimit = { name: 'search', limit: 5, windowMs: 2000 }

describe.each(['redis', 'memory'] as const)('the call budget in %s', (kind) => {
  let stores: FreshStores
  let connections: RedisConnection[]
  let open: () => Promise<CallBudget>

  beforeEach(async () => {
    stores = await freshStores()
    connections = []
    if (kind === 'memory') {
      const shared = createMemoryCallBudget()
      open = async () => shared
    } else {
      const first = await openRedis(stores.redisUrl)
      connections.push(first)
      open = async () => {
        const redis = (first.redis as Redis).duplicate()
        connections.push({ redis, kind: 'redis', close: async () => redis.disconnect() })
        return createCallBudget(redis, stores.redisPrefix)
      }
    }
  })
  afterEach(async () => {
    for (const connection of connections.reverse()) await connection.close()
    await stores.cleanup()
  })

  test('hands out no more than the limit, to however many ask at once', async () => {
    const budgets = await Promise.all([open(), open(), open()])
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => budgets[at % 3]!.take('a', [search])),
    )
    expect(answers.filter(({ waitMs }) => waitMs === 0)).toHaveLength(5)
    for (const { waitMs, limit } of answers.filter((answer) => answer.waitMs > 0)) {
      expect(limit).toBe('search')
      expect(waitMs).toBeLessThanOrEqual(2000)
    }
    // Another account is another budget.
    expect(await budgets[0]!.take('b', [search])).toEqual({ waitMs: 0 })
  })

  test('says truly when to ask again', async () => {
    const budget = await open()
    const brief: CallLimit = { name: 'brief', limit: 1, windowMs: 150 }
    for (let round = 0; round < 3; round++) {
      expect((await budget.take('a', [brief])).waitMs).toBe(0)
      const { waitMs } = await budget.take('a', [brief])
      expect(waitMs).toBeGreaterThan(0)
      expect(waitMs).toBeLessThanOrEqual(150)
      await new Promise((resolve) => setTimeout(resolve, waitMs + 2))
    }
  })

  test('charges all limits of a call or none', async () => {
    const budget = await open()
    const day: CallLimit = { name: 'day', limit: 7, endsAtMs: Date.now() + 60_000 }
    for (let call = 0; call < 5; call++) expect((await budget.take('a', [search, day])).waitMs).toBe(0)
    for (let call = 0; call < 5; call++)
      expect(await budget.take('a', [day, search])).toMatchObject({ limit: 'search' })
    // Two calls of the day are left: the refused ones took none.
    const other: CallLimit = { name: 'other', limit: 100, windowMs: 1000 }
    const answers = [1, 2, 3].map(() => budget.take('a', [other, day]))
    expect((await Promise.all(answers)).map(({ limit }) => limit)).toEqual([undefined, undefined, 'day'])
    const { waitMs } = await budget.take('a', [day])
    expect(waitMs).toBeGreaterThan(50_000)
    expect(waitMs).toBeLessThanOrEqual(60_000)
  })

  test('keeps a limit closed for as long as the CRM said, and the longer word counts', async () => {
    const [budget, another] = await Promise.all([open(), open()])
    await budget.close('a', 'search', 5000)
    await another.close('a', 'search', 100)
    const { waitMs, limit } = await another.take('a', [search])
    expect(limit).toBe('search')
    expect(waitMs).toBeGreaterThan(4000)
    expect((await another.take('b', [search])).waitMs).toBe(0)
  })

  test('counts what others used of the day, and never less than before', async () => {
    const [budget, another] = await Promise.all([open(), open()])
    const endsAtMs = Date.now() + 60_000
    const day: CallLimit = { name: 'day', limit: 10, endsAtMs }
    await budget.learn('a', 'day', 9, endsAtMs)
    await another.learn('a', 'day', 3, endsAtMs)
    expect((await another.take('a', [day])).waitMs).toBe(0)
    expect(await another.take('a', [day])).toMatchObject({ limit: 'day' })
  })
})
