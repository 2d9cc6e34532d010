import { setTimeout } from 'node:timers/promises'
import { companyAnswer } from '../src/sandbox/data/company.ts'
import { startChild, type Child } from './child.ts'
import type { BenchOptions } from './options.ts'
import { envWith, steadyPace, storesOf, withCrm, withStub, type Stores } from './setup.ts'
import { printTable, quantile, round } from './table.ts'

interface Row {
  stores: string
  'limit a second': number
  waiting: number
  requests: number
  p50: number
  p95: number
  p99: number
  'a token ms': number
  'p95 less a token': number
  goal: string
  'to the service p50/p95': string
  'to the CRM p50/p95': string
  'requests refused': number
  'longest stall of the loop': number
  'served a second': number
}

interface TimedRequest {
  /** From the request to the write in the CRM, less the service's own time. */
  overMs: number
  toServiceMs: number
  toCrmMs: number
  /** The number of 429s from the service. */
  refused: number
}

const serviceMs = 100

/**
 * Measures an on-demand request while the tasks of a nightly run wait: from the HTTP request to the write in the CRM,
 * less the time of the service. Everything runs on this machine: the web and worker roles (in one process on the
 * embedded stores, in two on servers), the service (the stub), the CRM (the HubSpot stand-in), Redis and Postgres.
 */
export async function latency(options: BenchOptions): Promise<Row[]> {
  const { quick, sizes } = options
  const waiting = sizes?.[0] ?? (quick ? 500 : 100_000)
  const requests = quick ? 3 : options.repeat > 1 ? options.repeat : 120
  const rates = options.only.length > 0 ? options.only.map(Number) : quick ? [50] : [10, 200]
  const rows: Row[] = []
  for (const kind of storesOf(options)) {
    for (const perSecond of rates) {
      const warmUpMs = quick ? 500 : 20_000
      const row = await withCrm(kind, { companies: waiting }, (parts) =>
        measure({ ...parts, perSecond, waiting, requests, warmUpMs }),
      )
      if (row) rows.push(row)
    }
  }
  printTable('latency, ms', rows)
  return rows
}

interface Setting {
  stores: Stores
  crm: Child
  perSecond: number
  waiting: number
  requests: number
  warmUpMs: number
}

async function measure(setting: Setting): Promise<Row> {
  const { stores, crm, perSecond } = setting
  const { limit, file } = steadyPace(perSecond)
  return withStub({ latencyMs: serviceMs, limit }, async (stub, serviceUrl) => {
    const connectors = { hubspot: { tenSecondLimit: 1_000_000, searchLimit: 1_000_000 } }
    const order = { env: await envWith(stores, crm, serviceUrl), file: { ...file, connectors } }
    const web = await startChild('paydirt-process.ts', order)
    const worker = stores.kind === 'servers' ? await startChild('paydirt-process.ts', order) : undefined
    try {
      const scanned = await web.ask<number>('scanAll')
      if (scanned !== setting.waiting) throw new Error(`${scanned} records instead of ${setting.waiting}`)
      await worker?.ask('start', 'worker')
      const { url } = await web.ask<{ url: string }>('start', worker ? 'web' : 'all')
      const token = await web.ask<string>('token')
      await setTimeout(setting.warmUpMs)
      await web.ask('stalledMs')
      const before = await stub.ask<{ answered: number }>('stats')
      if (process.env['BENCH_DETAILS']) process.stderr.write(`${JSON.stringify(await web.ask('pace'))}\n`)
      const startMs = performance.now()
      const timed = await requestAll(setting, { stub, url, token })
      const answered = (await stub.ask<{ answered: number }>('stats')).answered - before.answered
      const stalledMs = Math.round(await web.ask<number>('stalledMs'))
      const states = await web.ask<Record<string, number>>('states')
      if (process.env['BENCH_DETAILS']) process.stderr.write(`${JSON.stringify(await web.ask('pace'))}\n`)
      // Enough tasks must still be waiting at the end, or the last requests had nothing to compete with.
      if (setting.waiting >= 1_000 && (states['waiting'] ?? 0) < setting.waiting / 20)
        throw new Error('too few tasks were left to wait')
      const served = (1_000 * answered) / (performance.now() - startMs)
      return rowOf(setting, timed, { served, stalledMs, waiting: states['waiting'] ?? 0 })
    } finally {
      await worker?.stop()
      await web.stop()
    }
  })
}

async function requestAll(
  { crm, requests }: Setting,
  { stub, url, token }: { stub: Child; url: string; token: string },
): Promise<TimedRequest[]> {
  const timed: TimedRequest[] = []
  const slugs = knownSlugs()
  for (let index = 0; index < requests; index += 1) {
    // Varies the pause, so that requests do not fall into step with any poll loop.
    await setTimeout(200 + ((index * 397) % 601))
    const slug = slugs.next().value
    const id = await crm.ask<string>('add', slug)
    const startMs = Date.now()
    const response = await fetch(`${url}/v1/enrich?wait=13`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ connector: 'hubspot', object: 'company', ids: [id] }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a request was answered ${response.status}: ${text}`)
    const written = await crm.ask<number>('written', id)
    const times = await stub.ask<{ askedAtMs: number; answeredAtMs: number; refused: number }>('times', slug)
    if (!times) throw new Error(`the service was not asked for ${slug}: ${text}`)
    timed.push({
      overMs: written - startMs - (times.answeredAtMs - times.askedAtMs),
      toServiceMs: times.askedAtMs - startMs,
      toCrmMs: written - times.answeredAtMs,
      refused: times.refused,
    })
  }
  return timed
}

/** Yields companies that the service knows. For others nothing would be written. */
function* knownSlugs(): Generator<string, never> {
  for (let number = 0; ; number += 1) {
    const slug = `timed-${number}`
    if (companyAnswer(`https://www.profnet.example/company/${slug}`).data !== null) yield slug
  }
}

function rowOf(
  { stores, perSecond, requests }: Setting,
  timed: readonly TimedRequest[],
  { served, stalledMs, waiting }: { served: number; stalledMs: number; waiting: number },
): Row {
  const tokenMs = 1_000 / perSecond
  const at = (share: number, of: (request: TimedRequest) => number) =>
    Math.round(quantile(timed.map(of), share))
  const over = (share: number) => at(share, (request) => request.overMs)
  const parts = (of: (request: TimedRequest) => number) => `${at(0.5, of)}/${at(0.95, of)}`
  if (process.env['BENCH_DETAILS']) process.stderr.write(`${JSON.stringify(timed)}\n`)
  return {
    stores: stores.kind === 'embedded' ? 'PGlite + Valkey, one process' : 'Postgres + Redis, web and worker',
    'limit a second': perSecond,
    waiting,
    requests,
    p50: over(0.5),
    p95: over(0.95),
    p99: over(0.99),
    'a token ms': tokenMs,
    'p95 less a token': over(0.95) - tokenMs,
    goal: stores.kind === 'embedded' ? '≤ 200' : '≤ 100',
    'to the service p50/p95': parts((request) => request.toServiceMs),
    'to the CRM p50/p95': parts((request) => request.toCrmMs),
    'requests refused': timed.filter(({ refused }) => refused > 0).length,
    'longest stall of the loop': stalledMs,
    'served a second': round(served),
  }
}
