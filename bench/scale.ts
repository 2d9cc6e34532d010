import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { writeCompanies } from './companies-csv.ts'
import type { CsvResult } from './csv-run.ts'
import type { BenchOptions } from './options.ts'
import { oneLookup, openStores, storesOf, withStub, type Stores } from './setup.ts'
import { printTable, round } from './table.ts'
import type { TableUse } from './table-use.ts'

interface Row {
  stores: string
  tasks: number
  seconds: number
  'ms a task': number
  'of the smallest': number
  'cpu ms a task': number
  'resident MB at most': number
  'in the second half': number
  'Redis MB at most': number
  'Redis bytes a task': number
  'directory MB at most': number
  'at the end': number
  goal: string
}

const goals = { embedded: '600 MB, 20 MB, ± 10 %', servers: '300 MB, 20 MB, ± 10 %' }

/**
 * Measures a CSV of many companies, each looked up and written, in one process. The service is the stub and is paid by
 * API key: there is no chain and no signature, and everything else is unchanged. The time includes reading the file and
 * writing the result.
 */
export async function scale(options: BenchOptions): Promise<Row[]> {
  const sizes = options.sizes ?? (options.quick ? [50, 100] : [10_000, 100_000])
  const rows: Row[] = []
  for (const kind of storesOf(options)) {
    let smallest: number | undefined
    for (const tasks of sizes) {
      const stores = await openStores(kind)
      if (!stores) continue
      try {
        const ran = await runOne(stores, tasks)
        smallest ??= ran.wallMs / tasks
        rows.push(rowOf(kind, tasks, ran, smallest))
        printTable('scale', rows.slice(-1))
        printTable(
          'tables',
          ran.tables.filter(({ bytes }) => bytes > 1e6).map((table) => tableRow(table, tasks)),
        )
      } finally {
        await stores.stop()
      }
    }
  }
  printTable('scale', rows)
  return rows
}

async function runOne(stores: Stores, tasks: number): Promise<CsvResult> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-bench-files-'))
  try {
    const [input, out] = [join(folder, 'in.csv'), join(folder, 'out.csv')]
    await writeCompanies(input, tasks, 'scale')
    return await withStub({}, async (_, serviceUrl) => {
      const env = { ...stores.env, PAYDIRT_SERVICE_URL: serviceUrl, PAYDIRT_API_KEY: 'bench' }
      const file = {
        ...oneLookup,
        pacing: { concurrency: 64, startPerSecond: 1_000 },
        budgets: { runUsd: '100000', dayUsd: '100000' },
      }
      const child = await startChild('csv-run.ts', { env, file, input, out, measuresFolder: true })
      try {
        const ran = await child.ask<CsvResult>('run')
        if (ran.end !== 'finished') throw new Error(`${tasks} tasks ended ${ran.end}`)
        return ran
      } finally {
        await child.stop()
      }
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function tableRow({ name, bytes, indexBytes, inserted, updated, hotUpdated, dead }: TableUse, tasks: number) {
  return {
    table: name,
    'bytes a task': round(bytes / tasks),
    'of them indexes': round(indexBytes / tasks),
    'rows a task': round(inserted / tasks, 2),
    'updates a task': round(updated / tasks, 2),
    'of them in their page': round(hotUpdated / tasks, 2),
    'dead a task': round(dead / tasks, 2),
  }
}

function rowOf(kind: Stores['kind'], tasks: number, ran: CsvResult, smallest: number): Row {
  return {
    stores: kind === 'embedded' ? 'PGlite + Valkey (in the process)' : 'Postgres + Redis',
    tasks,
    seconds: round(ran.wallMs / 1_000),
    'ms a task': round(ran.wallMs / tasks, 2),
    'of the smallest': round(ran.wallMs / tasks / smallest, 2),
    'cpu ms a task': round(ran.cpuMs / tasks, 2),
    'resident MB at most': Math.round(ran.peakRssMb),
    'in the second half': Math.round(ran.laterRssMb),
    'Redis MB at most': round(ran.redisPeakMb, 2),
    'Redis bytes a task': round(ran.redisPeakBytes / tasks),
    'directory MB at most': round(ran.folderPeakMb),
    'at the end': round(ran.folderEndMb),
    goal: goals[kind],
  }
}
