// `paydirt csv` in a process of its own that measures itself: processor time of all its threads, memory, Redis.
import { createContext } from '../src/app/context/context.ts'
import { resolveConfig } from '../src/app/config/config.ts'
import { fileSchema, type FileConfig } from '../src/app/config/file.ts'
import { enrichCsv, openInput } from '../src/app/runs/enrich-csv.ts'
import { readEnvironment } from '../src/app/config/environment.ts'
import { limitHeap } from '../src/app/context/heap-limits.ts'
import type { Pacer } from '../src/queues/pacer/pacer.ts'
import { readOrder, serveParent } from './child.ts'
import { startMeter, type Metered } from './meter.ts'
import { tableUse, type TableUse } from './table-use.ts'

export interface CsvOrder {
  env: Record<string, string>
  file: FileConfig
  input: string
  out: string
  /** To read what the folder of the embedded ledger holds takes processor time too. */
  measuresFolder?: boolean
  /** The pacer knows from the start that so many requests may be under way, and looks for nothing. */
  knownAtOnce?: number | undefined
}

export interface CsvResult extends Metered {
  end: string
  written: number
  requests: number
  startCpuMs: number
  tables: TableUse[]
}

/** More than is served in a run, so the limit is never tested. */
const never = 1e9

limitHeap()
const order = readOrder<CsvOrder>()
const config = resolveConfig(readEnvironment(order.env), fileSchema.parse(order.file))

serveParent({
  async run(): Promise<CsvResult> {
    const context = await createContext(config)
    const { redis, pacer } = await context.openEngine()
    if (order.knownAtOnce !== undefined) await tellAtOnce(pacer, order.knownAtOnce)
    const started = process.cpuUsage()
    const meter = startMeter({
      redis: redis.redis,
      folder: order.measuresFolder && config.databaseUrl === undefined ? config.dataDir : undefined,
    })
    const csv = await openInput(config, { input: order.input, object: 'company' })
    const { end, summary } = await enrichCsv(context, csv, {
      out: order.out,
      signal: new AbortController().signal,
    })
    const metered = await meter.stop()
    const tables = await tableUse(context.database.db)
    await context.close()
    return {
      ...metered,
      end,
      written: summary.tasks.written,
      requests: summary.requests.sent,
      tables,
      startCpuMs: (started.user + started.system) / 1_000,
    }
  },
})

async function tellAtOnce(pacer: Pacer, limit: number): Promise<void> {
  const learner = JSON.parse(await pacer.export())
  const flight = { ...learner.flight, limit, isSure: true, testAfter: never, usualTestAfter: never }
  const totals = { ok: 1, limited: 0 }
  await pacer.import(JSON.stringify({ ...learner, phase: 'hold', rate: 1_000, totals, flight }))
}
