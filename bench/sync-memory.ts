import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { resolveConfig } from '../src/app/config/config.ts'
import { openConnector } from '../src/app/context/connectors.ts'
import { createContext } from '../src/app/context/context.ts'
import { planSync } from '../src/app/runs/sync.ts'
import type { BenchOptions } from './options.ts'

/**
 * Measures resident memory while 250,000 HubSpot contacts become tasks in the embedded ledger. It is flat when the last
 * rows are like the first. Nothing is looked up: this measures the scan, the planner and the ledger.
 */
export async function syncMemory({
  quick,
  sizes,
}: BenchOptions): Promise<{ records: number; rssMb: number; heapMb: number }[]> {
  const records = sizes?.[0] ?? (quick ? 1_000 : 250_000)
  const everyRecords = records / 10
  const dataDir = await mkdtemp(join(tmpdir(), 'paydirt-bench-'))
  const standIn = await startStandIn(records)
  const config = resolveConfig(
    { HUBSPOT_BASE_URL: standIn.baseUrl, HUBSPOT_ACCESS_TOKEN: standIn.token, PAYDIRT_DATA_DIR: dataDir },
    { connectors: { hubspot: { tenSecondLimit: 1_000_000, searchLimit: 1_000_000 } } },
  )
  const context = await createContext(config)
  const connector = await openConnector(config, 'hubspot', undefined)
  const rows: { records: number; rssMb: number; heapMb: number }[] = []
  process.stderr.write('  records   resident MB   heap MB\n')
  try {
    const insertPage = context.tasks.insertPage.bind(context.tasks)
    let seen = 0
    context.tasks.insertPage = async (run, tasks, watermark) => {
      await insertPage(run, tasks, watermark)
      const before = Math.floor(seen / everyRecords)
      seen += tasks.length
      if (Math.floor(seen / everyRecords) > before) rows.push(measure(seen))
    }
    const plan = await planSync(
      context,
      connector,
      { entity: 'contacts', filter: [] },
      new AbortController().signal,
    )
    if (plan.records !== records) throw new Error(`${plan.records} records instead of ${records}`)
    return rows
  } finally {
    await connector.close()
    await context.close()
    standIn.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function measure(seen: number) {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const row = { records: seen, rssMb: Math.round(rss / 1e6), heapMb: Math.round(heapUsed / 1e6) }
  process.stderr.write(
    `${String(row.records).padStart(9)} ${String(row.rssMb).padStart(13)} ${String(row.heapMb).padStart(9)}\n`,
  )
  return row
}

/** Runs in a process of its own, so that its memory is not counted. */
async function startStandIn(records: number): Promise<{ baseUrl: string; token: string; stop(): void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'hubspot-process.ts'), String(records)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { ...(JSON.parse(line) as { baseUrl: string; token: string }), stop: () => void child.stdin.end() }
}
