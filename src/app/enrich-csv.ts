import { createHash, randomBytes } from 'node:crypto'
import { basename, resolve } from 'node:path'
import {
  createCsvConnector,
  openCsv,
  writeEnriched,
  type OpenedCsv,
  type RowResult,
} from '../connectors/csv/index.ts'
import { ConfigError } from '../domain/errors.ts'
import { formatUsd } from '../domain/money.ts'
import { builtInRecipes, defaultRecipeName } from '../domain/recipes.ts'
import type { ObjectKind } from '../domain/words.ts'
import { scan } from '../producers/scan.ts'
import { planFigures } from '../store/plans.ts'
import type { Run, RunLedger } from '../store/runs.ts'
import type { TaskLedger } from '../store/tasks.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { RunPlan } from './plan.ts'
import { runToEnd, type Progress, type RunEnd } from './run-to-end.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface CsvJob {
  input: string
  object: ObjectKind
}

/** Opens and checks a CSV before anything else is started, so that a bad file costs nothing but its message. */
export async function openInput(config: Config, job: CsvJob): Promise<OpenedCsv> {
  const csv = await openCsv(job.input, {
    object: job.object,
    networkName: config.networkName,
    synonyms: config.csvSynonyms,
  })
  if (csv.wrongObject) throw new ConfigError('wrong_object', `${job.input}: ${csv.wrongObject}`)
  return csv
}

/** Goes through the file as the run would, asks the ledger what it holds, and forgets it all again. Pays nothing. */
export async function planCsv(context: Context, csv: OpenedCsv): Promise<RunPlan> {
  const { runs, tasks, lookups } = context
  const { run } = await openRun(runs, csv, 'planned')
  try {
    const connector = createCsvConnector({ csv })
    const records = await scan(run, connector, { runs, tasks, lookups })
    const { unique, cached, duplicates } = await planFigures(context.database.db, run.id, context.now())
    const counts = await tasks.counts(run.id)
    const toBuy = unique - cached
    const cost = formatUsd(BigInt(toBuy) * context.config.policy.maxPriceAtomic)
    return {
      plan: true,
      object: csv.object,
      connector: 'csv',
      records,
      lookups: { unique, cached, duplicates, toBuy },
      tasks: { skipped: counts.skipped, rejected: counts.rejected },
      cost: { currency: 'USD', low: cost, high: cost },
    }
  } finally {
    await runs.dropPlanned(run.id)
  }
}

export interface EnrichOptions {
  out: string
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
  onResumed?: (run: Run) => void
}

/**
 * Enriches a CSV and writes the result. The same file asked for again goes on with the run that was broken off, or, when
 * that one has ended, runs again and finds every fresh answer in the ledger. Nothing is written after an interrupt.
 */
export async function enrichCsv(
  context: Context,
  csv: OpenedCsv,
  { out, signal, onProgress, onResumed }: EnrichOptions,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const { run, resumed } = await openRun(context.runs, csv, 'scanning')
  if (resumed) onResumed?.(run)
  const end = await runToEnd(context, {
    run,
    connector: createCsvConnector({ csv }),
    signal,
    ...(onProgress ? { onProgress } : {}),
  })
  if (end !== 'interrupted') {
    await writeEnriched({
      input: csv,
      out,
      fields: builtInRecipes(csv.object, run.recipe).fields,
      results: results(context.tasks, run.id),
    })
  }
  return { end, summary: await summarise(context, run) }
}

function openRun(runs: RunLedger, csv: OpenedCsv, state: 'planned' | 'scanning') {
  const recipe = defaultRecipeName
  return runs.open({
    id: `r${Date.now().toString(36)}${randomBytes(3).toString('hex')}`,
    connector: 'csv',
    object: csv.object,
    entity: csv.object,
    recipe,
    trigger: 'csv',
    state,
    fingerprint: createHash('sha256').update(`csv|${csv.object}|${recipe}|${csv.sha256}`).digest('hex'),
    source: { file: basename(csv.path), path: resolve(csv.path), sha256: csv.sha256 },
  })
}

async function* results(tasks: TaskLedger, runId: string): AsyncGenerator<RowResult> {
  let after = 0
  for (;;) {
    const page = await tasks.page(runId, after, 500)
    for (const task of page) {
      const note = task.duplicateOf === null ? null : `duplicate of line ${task.duplicateOf}`
      yield {
        ordinal: task.ordinal,
        status: task.status,
        reason: [note, task.reason].filter((part) => part !== null).join('; ') || null,
        patch: task.status === 'written' ? task.patch : null,
        enrichedAt: task.status === 'written' ? task.updatedAt : null,
      }
    }
    const last = page.at(-1)
    if (!last) return
    after = last.ordinal
  }
}
