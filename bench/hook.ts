import { randomUUID } from 'node:crypto'
import { startChild, type Child } from './child.ts'
import type { BenchOptions } from './options.ts'
import { openStores, storesOf, type Stores } from './setup.ts'
import { printTable, quantile, round } from './table.ts'

interface Row {
  stores: string
  'a second': number
  deliveries: number
  p50: number
  p95: number
  p99: number
  longest: number
  goal: string
  'p95, times a page without work': number
  'without a 200': string
  'worked after': string
}

const secret = 'the-secret-of-the-bench'
const goal = 'p95 100 ms'

/**
 * Measures the answer to a monitor's delivery at a steady rate, by a load program in a process of its own that imports nothing of ours,
 * while the deliveries are worked by the same process (role all). Each names five companies. A delivery is sent at its time, however long
 * the ones before take, so that a stall is not left out. Beside it stands `/healthz`, which does no work, at the same rate.
 */
export async function hook(options: BenchOptions): Promise<Row[]> {
  const perSecond = options.sizes?.[0] ?? 50
  const deliveries = options.quick ? 50 : 60 * perSecond
  const rows: Row[] = []
  for (const kind of storesOf(options)) {
    const stores = await openStores(kind)
    if (!stores) continue
    try {
      rows.push(await measure(stores, { perSecond, deliveries }))
    } finally {
      await stores.stop()
    }
  }
  printTable('hook, ms', rows)
  return rows
}

interface Load {
  sentMs: number[]
  failures: Record<string, number>
}

async function measure(
  stores: Stores,
  { perSecond, deliveries }: { perSecond: number; deliveries: number },
): Promise<Row> {
  const env = {
    ...stores.env,
    // Nothing is bought: the companies are in no CRM.
    PAYDIRT_SERVICE_URL: 'http://127.0.0.1:9',
    PAYDIRT_API_KEY: 'bench',
    PAYDIRT_MONITOR_SECRET: secret,
  }
  const [web, load] = [
    await startChild('paydirt-process.ts', { env, file: {} }),
    await startChild('load-process.ts'),
  ]
  try {
    const { url } = await web.ask<{ url: string }>('start', 'all')
    const send = (path: string, count: number) =>
      load.ask<Load>('send', { url: `${url}${path}`, secret, perSecond, count, run: randomUUID() })
    // The first requests load what later ones have.
    await send('/hooks/monitor', perSecond)
    const plain = await send('/healthz', Math.min(deliveries, 10 * perSecond))
    const { sentMs, failures } = await send('/hooks/monitor', deliveries)
    const workedMs = await untilWorked(web)
    const at = (share: number) => round(quantile(sentMs, share))
    return {
      stores: stores.kind,
      'a second': perSecond,
      deliveries,
      p50: at(0.5),
      p95: at(0.95),
      p99: at(0.99),
      longest: round(Math.max(...sentMs)),
      goal,
      'p95, times a page without work': round(quantile(sentMs, 0.95) / quantile(plain.sentMs, 0.95)),
      'without a 200': reasons(plain.failures, failures),
      'worked after': `${round(workedMs / 1_000)} s`,
    }
  } finally {
    await load.stop()
    await web.stop()
  }
}

/** Returns the statuses and errors that came instead, each with its number. */
function reasons(...all: Record<string, number>[]): string {
  const given = all.flatMap((each) => Object.entries(each))
  return given.map(([reason, count]) => `${count} ${reason}`).join(', ') || '0'
}

/** Returns how long the deliveries took to be worked after the last one was answered. */
async function untilWorked(web: Child): Promise<number> {
  const startedMs = performance.now()
  while ((await web.ask<number>('deliveriesLeft')) > 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
  return performance.now() - startedMs
}
