import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { savePacerState } from '../../src/app/context/pacer-state.ts'
import { savedPaces } from '../../src/app/service/saved-paces.ts'
import { startEmbeddedRedis } from '../../src/queues/embedded-redis.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createPacers } from '../../src/queues/pacers.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createPacerStateStore } from '../../src/store/ledger/pacer-state.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'

let database: OpenDatabase
let close: () => Promise<void>

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** A process with a Redis that ends with it. */
async function start(host: string, now: () => Date, maxPerSecond = 1_000) {
  const server = await startEmbeddedRedis()
  const { redis, close } = await openRedis(server.url)
  const errors: unknown[] = []
  const pacers = createPacers(redis, {
    host,
    access: 'paid',
    prefix: 'p',
    initialPerSecond: 50,
    maxPerSecond,
  })
  const end = await savePacerState(pacers, createPacerStateStore(database.db, { now }), (error) =>
    errors.push(error),
  )
  let isOver = false
  async function stop(): Promise<void> {
    if (isOver) return
    isOver = true
    await end()
    await pacers.lookup.close()
    await close()
    await server.stop()
  }
  onTestFinished(stop)
  const rate = async () => (JSON.parse(await pacers.lookup.export()) as { rate: number }).rate
  return { pacer: pacers.lookup, rate, errors, stop }
}

async function send(
  pacer: Awaited<ReturnType<typeof start>>['pacer'],
  kind: 'ok' | 'limited',
): Promise<void> {
  const token = await pacer.take({ lane: 'background', maxWaitMs: 5_000 })
  if (!token.granted) throw new Error('no token')
  await pacer.report({ grantId: token.grantId, kind })
}

const today = () => new Date('2026-05-05T05:05:05Z')

test('the next process begins with what the one before has learned, at nine tenths of it', async () => {
  const first = await start('service.example', today)
  for (let count = 0; count < 20; count += 1) await send(first.pacer, 'ok')
  await send(first.pacer, 'limited')
  await first.pacer.close()
  const { phase, totals } = await first.pacer.snapshot()
  const rate = await first.rate()
  expect(phase).not.toBe('learn')
  await first.stop()

  const second = await start('service.example', today)
  expect((await second.pacer.snapshot()).totals).toEqual(totals)
  expect(await second.rate()).toBeCloseTo(rate * 0.9)
  const refusedShare = totals.limited / (totals.ok + totals.limited)
  expect(await savedPaces({ database, now: today })).toEqual([
    {
      name: 'service.example',
      perSecond: expect.closeTo(rate),
      windows: [],
      refusedShare,
      savedAt: today().toISOString(),
    },
  ])
  // Neither another host's nor one that may not go so fast any more.
  expect((await (await start('other.example', today)).pacer.snapshot()).totals.ok).toBe(0)
  expect(await (await start('service.example', today, 5)).rate()).toBe(5)
  expect([...first.errors, ...second.errors]).toEqual([])
})

test('what was learned weeks ago is learned anew', async () => {
  const first = await start('old.example', today)
  for (let count = 0; count < 5; count += 1) await send(first.pacer, 'ok')
  await first.pacer.close()
  await first.stop()
  const soon = await start('old.example', () => new Date('2026-05-19T05:00:00Z'))
  expect((await soon.pacer.snapshot()).totals.ok).toBe(5)
  const late = await start('old.example', () => new Date('2026-05-19T05:06:00Z'))
  expect((await late.pacer.snapshot()).totals.ok).toBe(0)
})

test('a Redis that is gone keeps no process from ending', async () => {
  const server = await startEmbeddedRedis()
  const { redis, close } = await openRedis(server.url)
  const pacers = createPacers(redis, { host: 'gone.example', access: 'paid', prefix: 'p' })
  const end = await savePacerState(pacers, createPacerStateStore(database.db, { now: today }), () => {})
  await server.stop()
  await expect(end()).resolves.toBeUndefined()
  await close()
})
