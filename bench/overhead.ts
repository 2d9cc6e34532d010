import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { writeCompanies } from './companies-csv.ts'
import type { CsvResult } from './csv-run.ts'
import type { Metered } from './meter.ts'
import type { BenchOptions } from './options.ts'
import { oneLookup, openStores, storesOf, walletKey, withStub } from './setup.ts'
import type { StubStats } from './stub-service.ts'
import { median, printTable, round } from './table.ts'

interface Row {
  what: string
  stores: string
  lookups: number
  'cpu ms a lookup': number
  'times the plain script': number
  'requests a lookup': number | string
  'lookups a second': number
  goal: string
}

const concurrency = 64
const goals = { embedded: '8 ms, 2 times, 1.02', servers: '5 ms, 1 times, 1.02' }

/**
 * Measures processor time and requests of a paid lookup, from a CSV to a CSV, and compares them with a plain script and
 * with BullMQ that has nothing to do. Each runs in a process of its own; service and chain (the stub) run in another,
 * and so do Redis and Postgres.
 */
export async function overhead(options: BenchOptions): Promise<Row[]> {
  const lookups = options.sizes?.[0] ?? (options.quick ? 50 : 3_000)
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-bench-files-'))
  const rows: Row[] = []
  try {
    for (const kind of storesOf(options)) {
      const stores = await openStores(kind)
      if (!stores) continue
      try {
        const rounds: Rounds = { paydirt: [], plain: [], bare: [] }
        for (let round = 0; round < options.repeat; round += 1) {
          const input = join(folder, 'in.csv')
          await writeCompanies(input, lookups, `${kind}-${round}`)
          await oneRound(rounds, { input, out: join(folder, 'out.csv'), lookups, env: stores.env })
        }
        rows.push(...rowsOf(rounds, lookups, kind))
      } finally {
        await stores.stop()
      }
    }
    printTable('overhead', rows)
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Measured = Metered & { written: number; requests: number }
type Rounds = Record<'paydirt' | 'plain' | 'bare', Measured[]>

async function oneRound(
  rounds: Rounds,
  order: { input: string; out: string; lookups: number; env: Record<string, string> },
): Promise<void> {
  const { input, out, lookups, env } = order
  rounds.paydirt.push(
    await withStub({}, async (stub, url) => {
      const file = {
        ...oneLookup,
        pacing: { concurrency, startPerSecond: 1_000 },
        budgets: { runUsd: '100000', dayUsd: '100000' },
      }
      const settings = {
        ...env,
        PAYDIRT_SERVICE_URL: url,
        PAYDIRT_RPC_URL: `${url}/rpc`,
        PAYDIRT_WALLET_KEY: walletKey,
      }
      const ran = await run<CsvResult>('csv-run.ts', { env: settings, file, input, out })
      if (ran.written < lookups * 0.9) throw new Error(`only ${ran.written} of ${lookups} were written`)
      return { ...ran, requests: (await stub.ask<StubStats>('stats')).requests }
    }),
  )
  rounds.plain.push(
    await withStub({}, async (stub, serviceUrl) => {
      const ran = await run<Measured>('plain-script.ts', { serviceUrl, walletKey, input, out, concurrency })
      return { ...ran, requests: (await stub.ask<StubStats>('stats')).requests }
    }),
  )
  const bare = await run<Measured>('bare-bullmq.ts', {
    redisUrl: env['REDIS_URL'],
    jobs: lookups,
    concurrency,
  })
  rounds.bare.push({ ...bare, requests: 0 })
}

/**
 * As the command line has it (src/cli/main.ts): what an earlier command has compiled is not compiled again. The script has it
 * too.
 */
const compileCache = {
  NODE_COMPILE_CACHE:
    process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '../node_modules/.cache/paydirt'),
}

async function run<T>(file: string, order: unknown): Promise<T> {
  const execArgv = process.env['BENCH_CPU_PROF']
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_CPU_PROF']}`]
    : []
  const child = await startChild(file, order, { execArgv, env: compileCache })
  try {
    return await child.ask<T>('run')
  } finally {
    await child.stop()
  }
}

function rowsOf(rounds: Rounds, lookups: number, kind: 'embedded' | 'servers'): Row[] {
  const cpuMs = (list: readonly Measured[]) => median(list.map((each) => each.cpuMs / lookups))
  const plainMs = cpuMs(rounds.plain)
  const row = (what: string, list: readonly Measured[], goal: string): Row => ({
    what,
    stores: kind === 'embedded' ? 'PGlite + Valkey (in the process)' : 'Postgres + Redis',
    lookups,
    'cpu ms a lookup': round(cpuMs(list), 2),
    'times the plain script': round(cpuMs(list) / plainMs, 2),
    'requests a lookup': round(median(list.map((each) => each.requests / lookups)), 3),
    'lookups a second': round(median(list.map((each) => (1_000 * lookups) / each.wallMs))),
    goal,
  })
  return [
    row('paydirt csv', rounds.paydirt, goals[kind]),
    row('plain script, stock x402', rounds.plain, ''),
    row('bare BullMQ, empty processor', rounds.bare, ''),
  ]
}
