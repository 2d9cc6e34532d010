import { setTimeout } from 'node:timers/promises'
import { startChild, type Child } from './child.ts'
import type { BenchOptions } from './options.ts'
import { envWith, steadyPace, storesOf, withCrm, withStub, type Stores } from './setup.ts'
import { printTable, quantile, round } from './table.ts'

interface Row {
  stores: string
  presses: number
  'limit a second': number
  waiting: number
  'CRM calls in 10 s': number
  'CRM calls made, refused': string
  'with the result': number
  goal: string
  'first s': number
  'p50 s': number
  'p95 s': number
  'last s': number
  'to the service p50/p95/last s': string
  'share of the tokens': string
  'requests refused': number
}

interface Pressed {
  status: number
  tookMs: number
  /** From the press to the request at the service; undefined while it has not been asked. */
  toServiceMs: number | undefined
}

const serviceMs = 100
const perSecond = 50
const presses = 200
const waitSeconds = 13

/**
 * Presses 200 records at once while a night's lookups wait, half of them records of the night itself, and counts who gets
 * the result within the wait. The CRM stand-in has the limits of real accounts, 100 and 190 calls in ten seconds; `--only` names
 * others.
 */
export async function burst(options: BenchOptions): Promise<Row[]> {
  const waiting = options.sizes?.[0] ?? (options.quick ? 500 : 20_000)
  const crmLimits = options.only.length > 0 ? options.only.map(Number) : options.quick ? [190] : [100, 190]
  const settings = Array.from({ length: options.repeat }, () => crmLimits).flat()
  const rows: Row[] = []
  for (const kind of storesOf(options)) {
    for (const crmLimit of settings) {
      const limits = { perTenSeconds: crmLimit, perDay: 650_000, searchPerSecond: 5 }
      const warmUpMs = options.quick ? 500 : 20_000
      const row = await withCrm(kind, { companies: waiting, limits }, (parts) =>
        measure({ ...parts, crmLimit, waiting, warmUpMs }),
      )
      if (row) rows.push(row)
    }
  }
  printTable('burst of presses', rows)
  return rows
}

interface Setting {
  stores: Stores
  crm: Child
  crmLimit: number
  waiting: number
  warmUpMs: number
}

async function measure(setting: Setting): Promise<Row> {
  const { stores, crm, waiting } = setting
  const { limit, file } = steadyPace(perSecond)
  return withStub({ latencyMs: serviceMs, limit }, async (stub, serviceUrl) => {
    const order = { env: await envWith(stores, crm, serviceUrl), file }
    const web = await startChild('paydirt-process.ts', order)
    const worker = stores.kind === 'servers' ? await startChild('paydirt-process.ts', order) : undefined
    try {
      const scanned = await web.ask<number>('scanAll')
      if (scanned !== waiting) throw new Error(`${scanned} records instead of ${waiting}`)
      await worker?.ask('start', 'worker')
      const { url } = await web.ask<{ url: string }>('start', worker ? 'web' : 'all')
      const token = await web.ask<string>('token')
      await setTimeout(setting.warmUpMs)
      const slugs = slugsToPress(waiting)
      const ids = await crm.ask<string[]>('idsOf', slugs)
      const before = await stub.ask<Stats>('stats')
      const callsBefore = await crm.ask<CrmStats>('stats')
      const startMs = Date.now()
      const pressed = await Promise.all(ids.map((id) => press(url, token, id)))
      const lastMs = Math.max(...pressed.map(({ tookMs }) => tookMs))
      const after = await stub.ask<Stats>('stats')
      const calls = await crm.ask<CrmStats>('stats')
      for (const [index, slug] of slugs.entries()) {
        const times = await stub.ask<{ askedAtMs: number } | undefined>('times', slug)
        const each = pressed[index] as Pressed
        if (times) each.toServiceMs = times.askedAtMs - startMs
      }
      if (process.env['BENCH_DETAILS']) {
        process.stderr.write(`${JSON.stringify(pressed)}\n`)
        process.stderr.write(`${JSON.stringify(await web.ask('pace'))}\n`)
        process.stderr.write(`${JSON.stringify(await web.ask('pressTimes', startMs))}\n`)
      }
      return rowOf(setting, pressed, {
        calls: calls.requests - callsBefore.requests,
        callsRefused: calls.rateLimited - callsBefore.rateLimited,
        answered: after.answered - before.answered,
        refused: after.refused - before.refused,
        lastMs,
      })
    } finally {
      await worker?.stop()
      await web.stop()
    }
  })
}

interface Stats {
  answered: number
  refused: number
}

interface CrmStats {
  requests: number
  rateLimited: number
}

async function press(url: string, token: string, id: string): Promise<Pressed> {
  const startMs = performance.now()
  const response = await fetch(`${url}/v1/enrich?wait=${waitSeconds}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ connector: 'hubspot', object: 'company', ids: [id] }),
  })
  const text = await response.text()
  if (response.status !== 200 && response.status !== 202)
    throw new Error(`a press was answered ${response.status}: ${text}`)
  return { status: response.status, tookMs: performance.now() - startMs, toServiceMs: undefined }
}

/** The last records of the night, which are still to come, and as many that it does not have. */
function slugsToPress(waiting: number): string[] {
  const ofTheNight = Array.from({ length: presses / 2 }, (_, index) => `nightly-${waiting - 1 - index}`)
  const own = Array.from({ length: presses / 2 }, (_, index) => `pressed-${index}`)
  return ofTheNight.flatMap((slug, index) => [slug, own[index] as string])
}

function rowOf(
  { stores, crmLimit, waiting }: Setting,
  pressed: readonly Pressed[],
  {
    answered,
    refused,
    lastMs,
    calls,
    callsRefused,
  }: Stats & { lastMs: number; calls: number; callsRefused: number },
): Row {
  const seconds = (share: number, values: readonly number[]) =>
    values.length === 0 ? Number.NaN : round(quantile([...values], share) / 1_000)
  const took = pressed.map(({ tookMs }) => tookMs)
  const toService = pressed.flatMap(({ toServiceMs }) => toServiceMs ?? [])
  return {
    stores: stores.kind === 'embedded' ? 'PGlite + Valkey, one process' : 'Postgres + Redis, web and worker',
    presses: pressed.length,
    'limit a second': perSecond,
    waiting,
    'CRM calls in 10 s': crmLimit,
    'CRM calls made, refused': `${calls}, ${callsRefused}`,
    'with the result': pressed.filter(({ status }) => status === 200).length,
    goal: '≥ 190',
    'first s': round(Math.min(...took) / 1_000),
    'p50 s': seconds(0.5, took),
    'p95 s': seconds(0.95, took),
    'last s': round(lastMs / 1_000),
    'to the service p50/p95/last s': [0.5, 0.95, 1].map((share) => seconds(share, toService)).join('/'),
    'share of the tokens': `${toService.length} of ${answered}`,
    'requests refused': refused,
  }
}
