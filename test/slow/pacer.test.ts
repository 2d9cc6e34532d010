import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEmbeddedRedis } from '../../src/queues/embedded-redis.ts'
import type { Lane } from '../../src/domain/ports/send-permit.ts'
import { createPacer, type Pacer, type PacerOptions } from '../../src/queues/pacer/pacer.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

let stores: FreshStores
let url: string
let stopRedis: (() => Promise<void>) | undefined
let open: { pacer: Pacer; redis: Redis }[]

beforeEach(async () => {
  stores = await freshStores()
  const embedded = stores.redisUrl ? undefined : await startEmbeddedRedis()
  url = embedded?.url ?? stores.redisUrl!
  stopRedis = embedded?.stop
  open = []
})
afterEach(async () => {
  for (const { pacer, redis } of open.splice(0)) {
    await pacer.close()
    await redis.del(
      keyOf('shared'),
      keyOf('lanes'),
      keyOf('long'),
      keyOf('abort'),
      keyOf('retry'),
      keyOf('kept'),
    )
    redis.disconnect()
  }
  await stopRedis?.()
  await stores.cleanup()
})

describe('a pacer in Redis', () => {
  it('is one for all processes: together they keep to a limit that neither was told', async () => {
    const limit = hiddenLimit(40)
    const processes = [pacerOn('shared'), pacerOn('shared')]
    await work(processes, limit, 3000)
    limit.reset()
    await work(processes, limit, 5000)
    // Five seconds of 40. The bounds leave room for a busy machine; the exact shares are computed in simulation.test.ts.
    expect(limit.granted).toBeGreaterThan(150)
    expect(limit.granted).toBeLessThanOrEqual(240)
    expect(limit.refused / (limit.granted + limit.refused)).toBeLessThan(0.06)
    // Successes are reported in bunches: what either still holds is handed in before the two are compared.
    await Promise.all(processes.map((p) => p.close()))
    const [a, b] = await Promise.all(processes.map((p) => p.snapshot()))
    expect({ totals: a!.totals, phase: a!.phase }).toEqual({ totals: b!.totals, phase: b!.phase })
    expect(a!.perSecond).toBeGreaterThan(30)
    expect(a!.perSecond).toBeLessThan(48)
  })

  it('gives a button the next token while bulk waits in this and another process', async () => {
    const [one, two] = [
      pacerOn('lanes', { initialPerSecond: 10 }),
      pacerOn('lanes', { initialPerSecond: 10 }),
    ]
    const order: Lane[] = []
    const take = (pacer: Pacer, lane: Lane) =>
      pacer.take({ lane, maxWaitMs: 20_000 }).then((answer) => {
        if (answer.granted) order.push(lane)
      })
    const bulk = Array.from({ length: 30 }, (_, i) => take(i % 2 ? one : two, 'background'))
    await Promise.race(bulk)
    await take(two, 'hot')
    // One bulk token may be on its way in each process when the button is pressed.
    expect(order.indexOf('hot')).toBeLessThanOrEqual(3)
  })

  it('frees the caller at once when the wait is too long', async () => {
    const pacer = pacerOn('long', { initialPerSecond: 0.1 })
    expect(await pacer.take({ lane: 'background', maxWaitMs: 2000 })).toMatchObject({ granted: true })
    const before = performance.now()
    const refused = await pacer.take({ lane: 'background', maxWaitMs: 2000 })
    expect(performance.now() - before).toBeLessThan(500)
    expect(refused).toMatchObject({ granted: false })
    expect(refused.granted === false && refused.retryInMs).toBeGreaterThan(8000)
  })

  it('leaves the line when its signal aborts', async () => {
    const pacer = pacerOn('abort', { initialPerSecond: 1 })
    await pacer.take({ lane: 'background', maxWaitMs: 0 })
    const controller = new AbortController()
    const waiting = pacer.take({ lane: 'background', maxWaitMs: 5000, signal: controller.signal })
    controller.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })

  it('holds all callers back for a Retry-After', async () => {
    const [one, two] = [pacerOn('retry', { initialPerSecond: 20 }), pacerOn('retry')]
    const token = await one.take({ lane: 'background', maxWaitMs: 0 })
    if (!token.granted) throw new Error('the first token is free')
    await one.report({ grantId: token.grantId, kind: 'limited', retryAfterMs: 30_000 })
    const answer = await two.take({ lane: 'hot', maxWaitMs: 2000 })
    expect(answer.granted === false && answer.retryInMs).toBeGreaterThan(28_000)
  })

  it('knows what it learned after the connection is gone, and after Redis was emptied', async () => {
    const first = pacerOn('kept', { initialPerSecond: 20 })
    const limit = hiddenLimit(30)
    await work([first], limit, 2500)
    // Successes are reported in bunches: what it still holds is handed in before snapshot and export are compared.
    await first.close()
    const learned = await first.snapshot()
    const exported = await first.export()
    expect(await pacerOn('kept').snapshot()).toMatchObject({ totals: learned.totals })
    await open[0]!.redis.del(keyOf('kept'))
    const later = pacerOn('kept')
    await later.import(exported)
    expect((await later.snapshot()).totals).toEqual(learned.totals)
  })
})

function pacerOn(name: string, options: Partial<PacerOptions> = {}): Pacer {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 })
  const pacer = createPacer(redis, { name, prefix: stores.redisPrefix, ...options })
  open.push({ pacer, redis })
  return pacer
}

function keyOf(name: string): string {
  return `${stores.redisPrefix}:pacer:${name}`
}

/** A window of a second, counted from its first request's second; tells nobody its limit. */
function hiddenLimit(perSecond: number) {
  let second = 0
  let used = 0
  const server = {
    granted: 0,
    refused: 0,
    reset() {
      server.granted = 0
      server.refused = 0
    },
    request(): boolean {
      const now = Math.floor(performance.now() / 1000)
      if (now !== second) used = 0
      second = now
      if (used >= perSecond) return (server.refused++, false)
      used++
      return (server.granted++, true)
    },
  }
  return server
}

async function work(pacers: Pacer[], limit: ReturnType<typeof hiddenLimit>, forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs
  const worker = async (pacer: Pacer) => {
    while (performance.now() < untilMs) {
      const token = await pacer.take({ lane: 'background', maxWaitMs: 1000 })
      if (!token.granted) continue
      const ok = limit.request()
      if (ok) await new Promise((resolve) => setTimeout(resolve, 60))
      await pacer.report({ grantId: token.grantId, kind: ok ? 'ok' : 'limited' })
    }
  }
  await Promise.all(pacers.flatMap((pacer) => Array.from({ length: 10 }, () => worker(pacer))))
}
