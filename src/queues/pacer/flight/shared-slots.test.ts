import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedRedis } from '../../embedded-redis.ts'
import { defaultLearnerSettings, newLearner } from '../learner.ts'
import { createPacer, type Pacer } from '../pacer.ts'
import { leaseMs } from './leases.ts'
import { unlimited } from './flight.ts'

let server: Awaited<ReturnType<typeof startEmbeddedRedis>>
const open: { pacer: Pacer; redis: Redis }[] = []
beforeAll(async () => void (server = await startEmbeddedRedis()))
afterEach(async () => {
  for (const { pacer, redis } of open.splice(0)) {
    await pacer.close()
    redis.disconnect()
  }
})
afterAll(() => server.stop())

/** A process of its own, as far as Redis can tell. */
function processOn(name: string) {
  const redis = new Redis(server.url, { maxRetriesPerRequest: 1 })
  const pacer = createPacer(redis, { name, prefix: 'slots' })
  open.push({ pacer, redis })
  return { pacer, redis }
}

/** Both know that three requests may be under way. */
async function two(name: string) {
  const learned = {
    ...newLearner(defaultLearnerSettings),
    phase: 'hold',
    rate: 500,
    totals: { ok: 100, limited: 3 },
    flight: { ...unlimited, limit: 3, isSure: true, testAfter: 4_000 },
  }
  const [one, other] = [processOn(name), processOn(name)]
  await one.pacer.import(JSON.stringify(learned))
  return [one, other] as const
}

async function send(pacer: Pacer): Promise<string> {
  const token = await pacer.take({ lane: 'background', maxWaitMs: 20_000 })
  if (!token.granted) throw new Error('not granted')
  await pacer.depart(token.grantId)
  return token.grantId
}

describe('processes that share the slots of a limit', () => {
  it('have no more under way together, and a slot that is free is used by whoever waits', async () => {
    const [one, other] = await two('together')
    let underWay = 0
    let most = 0
    const served = { one: 0, other: 0 }
    const work = async (pacer: Pacer, name: 'one' | 'other') => {
      for (let request = 0; request < 20; request += 1) {
        const grantId = await send(pacer)
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => setTimeout(resolve, 20))
        underWay -= 1
        served[name] += 1
        await pacer.report({ grantId, kind: 'ok' })
      }
    }
    await Promise.all([...Array(4)].flatMap(() => [work(one.pacer, 'one'), work(other.pacer, 'other')]))
    expect(served).toEqual({ one: 80, other: 80 })
    expect(most).toBe(3)
  })

  it('wait while another holds all slots, and have one when it has an answer', async () => {
    const [one, other] = await two('held')
    const sent = [await send(one.pacer), await send(one.pacer), await send(one.pacer)]
    let hasLeft = false
    const waiting = send(other.pacer).then(() => (hasLeft = true))
    // Longer than the lease of a dead process.
    const late = await other.pacer.take({ lane: 'background', maxWaitMs: leaseMs + 500 })
    if (late.granted) await other.pacer.report({ grantId: late.grantId, kind: 'other' })
    const later = await other.pacer.take({ lane: 'background', maxWaitMs: leaseMs + 500 })
    expect({ later: later.granted, hasLeft }).toEqual({ later: false, hasLeft: false })
    await one.pacer.report({ grantId: sent[0]!, kind: 'ok' })
    expect(await waiting).toBe(true)
  })

  it('have the slots of a dead one after three seconds', async () => {
    const [dead, alive] = await two('dead')
    for (let request = 0; request < 3; request += 1) await send(dead.pacer)
    dead.redis.disconnect()
    const diedMs = performance.now()
    for (let request = 0; request < 3; request += 1) await send(alive.pacer)
    const tookMs = performance.now() - diedMs
    expect(tookMs).toBeGreaterThan(leaseMs / 2)
    expect(tookMs).toBeLessThan(leaseMs + 3_000)
  })

  it('send what is ready when Redis is away', async () => {
    const [one] = await two('away')
    for (let request = 0; request < 3; request += 1) await send(one.pacer)
    const token = await one.pacer.take({ lane: 'background', maxWaitMs: 1_000 })
    if (!token.granted) throw new Error('a request may stand ready')
    const departed = one.pacer.depart(token.grantId)
    one.redis.disconnect()
    await departed
    expect(one.redis.status).toBe('end')
  })
})
