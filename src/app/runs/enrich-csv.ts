import { createHash } from 'node:crypto'
import { basename, resolve } from 'node:path'
import {
  createCsvConnector,
  openCsv,
  writeEnriched,
  type OpenedCsv,
  type RowResult,
} from '../../connectors/csv/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { TaskLedger } from '../../store/runs/tasks.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { makePlan } from '../plans/make-plan.ts'
import type { RunPlan } from '../plans/plan-text.ts'
import type { JudgedRun } from './left-out.ts'
import { plannedRefusals, prepareStart } from './preflight.ts'
import { runToEnd, type Progress, type RunEnd } from './run-to-end.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface CsvJob {
  input: string
  object: ObjectKind
}

/** Opens and checks a CSV. Called before anything else starts. Throws ConfigError or InputError for a file that cannot be used. */
export async function openInput(config: Config, job: CsvJob): Promise<OpenedCsv> {
  const csv = await openCsv(job.input, {
    object: job.object,
    networkName: config.networkName,
    synonyms: config.csvSynonyms,
  })
  if (csv.wrongObject) throw new ConfigError('wrong_object', `${job.input}: ${csv.wrongObject}`)
  return csv
}

/** Plans the enrichment of a file without paying: reads it as the run would and asks the ledger. With an id the plan is saved. */
export async function planCsv(
  context: Context,
  csv: OpenedCsv,
  { planId, recipe }: { planId?: string | undefined; recipe?: string | undefined } = {},
): Promise<RunPlan> {
  const { run } = await openRun(context, csv, 'planned', recipe)
  try {
    const connector = createCsvConnector({ csv })
    return await makePlan(context, {
      kind: 'csv',
      connector,
      run,
      source: {},
      job: { path: resolve(csv.path), sha256: csv.sha256 },
      planId,
      refusals: () => plannedRefusals(context, connector, run),
    })
  } finally {
    await context.runs.dropPlanned(run.id)
  }
}

export interface EnrichOptions {
  out: string
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onResumed?: ((run: Run) => void) | undefined
  /** Default: the configured one. */
  recipe?: string | undefined
  /** The plan that this run carries out. Each plan has a run of its own. */
  planId?: string | undefined
  onOpened?: ((run: Run) => Promise<void>) | undefined
}

/**
 * Enriches a CSV and writes the result. Called again for the same file, continues the interrupted run; when that has ended,
 * opens a new run, which finds every fresh answer in the ledger. Writes no file after an interrupt.
 */
export async function enrichCsv(
  context: Context,
  csv: OpenedCsv,
  { out, signal, onProgress, onResumed, recipe, planId, onOpened }: EnrichOptions,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const connector = createCsvConnector({ csv })
  const prepared = await prepareStart(context, connector, newRun(context, csv, recipe))
  const { run, resumed } = await openRun(context, csv, 'scanning', recipe, planId)
  if (resumed) onResumed?.(run)
  await onOpened?.(run)
  const end = await runToEnd(context, {
    prepared,
    run,
    connector,
    signal,
    onProgress,
  })
  if (end !== 'interrupted') {
    await writeEnriched({
      input: csv,
      out,
      fields: context.config.recipes(csv.object, run.recipe).fields,
      results: results(context.tasks, run.id),
    })
  }
  return { end, summary: await summarise(context, run) }
}

function openRun(
  context: Context,
  csv: OpenedCsv,
  state: 'planned' | 'scanning',
  wanted: string | undefined,
  planId = '',
) {
  const run = newRun(context, csv, wanted)
  return context.runs.open({
    id: newRunId(context),
    ...run,
    trigger: 'csv',
    state,
    fingerprint: createHash('sha256')
      .update(`csv|${csv.object}|${run.recipe}|${csv.sha256}${planId && `|${planId}`}`)
      .digest('hex'),
  })
}

function newRun({ config }: Context, csv: OpenedCsv, recipe: string | undefined): JudgedRun {
  return {
    connector: 'csv',
    object: csv.object,
    entity: csv.object,
    recipe: config.recipes(csv.object, recipe ?? config.defaultRecipe).name,
    source: { file: basename(csv.path), path: resolve(csv.path), sha256: csv.sha256 },
  }
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
