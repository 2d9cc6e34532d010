import { setTimeout } from 'node:timers/promises'
import { startChild, type Child } from './child.ts'
import type { BenchOptions } from './options.ts'
import { envWith, oneLookup, openStores, withStub } from './setup.ts'
import { printTable, round } from './table.ts'

interface Row {
  workers: number
  'served a second': number
  times: number
  'limit a second': number
  'bound of one worker': string
  'SIGTERM to the end, s': number
}

const latencyMs = 200
const concurrency = 4
const perSecond = 200

/**
 * Worker processes on one Redis and one Postgres. Concurrency limits one worker to 20 a second (4 lookups of 200 ms),
 * far from the service's limit, so each further worker adds its own capacity.
 */
export async function workers(options: BenchOptions): Promise<Row[]> {
  const measureMs = options.quick ? 2_000 : 20_000
  const companies = options.sizes?.[0] ?? (options.quick ? 400 : 5_000)
  const stores = await openStores('servers')
  if (!stores) return []
  const crm = await startChild('crm-process.ts', { companies })
  const limit = { kind: 'fixed' as const, limit: perSecond, windowMs: 1_000, countRefused: false }
  try {
    return await withStub({ latencyMs, limit }, async (stub, serviceUrl) => {
      const order = {
        env: await envWith(stores, crm, serviceUrl),
        file: { ...oneLookup, pacing: { concurrency, startPerSecond: perSecond / 2 } },
      }
      const rows: Row[] = []
      const processes: Child[] = []
      for (const count of [1, 2, 4]) {
        while (processes.length < count) processes.push(await startChild('paydirt-process.ts', order))
        if (count === 1) await processes[0]?.ask('scanAll')
        await Promise.all(
          processes.slice(rows.length === 0 ? 0 : count / 2).map((child) => child.ask('start', 'worker')),
        )
        await setTimeout(options.quick ? 500 : 3_000)
        const before = (await stub.ask<{ answered: number }>('stats')).answered
        await setTimeout(measureMs)
        const served =
          ((await stub.ask<{ answered: number }>('stats')).answered - before) / (measureMs / 1_000)
        rows.push({
          workers: count,
          'served a second': round(served),
          times: round(served / (rows[0]?.['served a second'] ?? served), 2),
          'limit a second': perSecond,
          'bound of one worker': `${concurrency} lookups of ${latencyMs} ms: ${(1_000 * concurrency) / latencyMs} a second`,
          'SIGTERM to the end, s': 0,
        })
      }
      const ends = await Promise.all(processes.map((child) => child.ask<{ tookMs: number }>('stop')))
      const longest = round(Math.max(...ends.map(({ tookMs }) => tookMs)) / 1_000, 2)
      for (const row of rows) row['SIGTERM to the end, s'] = longest
      for (const child of processes) await child.stop()
      printTable('workers (Postgres + Redis)', rows)
      return rows
    })
  } finally {
    await crm.stop()
    await stores.stop()
  }
}
