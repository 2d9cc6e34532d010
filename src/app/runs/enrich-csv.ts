import { createHash } from 'node:crypto'
import { basename, resolve } from 'node:path'
import {
  createCsvConnector,
  openCsv,
  writeEnriched,
  type ColumnMap,
  type CsvReading,
  type OpenedCsv,
  type RowResult,
} from '../../connectors/csv/index.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import { checkpointWhenLong } from '../../store/database/checkpoint.ts'
import { compactIndexes } from '../../store/database/compact-indexes.ts'
import { noteOutput } from '../../store/runs/file-outputs.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { TaskLedger } from '../../store/runs/tasks.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { moduleLog } from '../context/log.ts'
import { newRunId } from '../context/new-id.ts'
import { makePlan } from '../plans/make-plan.ts'
import type { RunPlan } from '../plans/plan-text.ts'
import { applyCommandOf, freeOutputName } from './csv-output.ts'
import type { JudgedRun } from './left-out.ts'
import { plannedRefusals, prepareStart } from './preflight.ts'
import { makeRestSearchable } from '../upkeep/maintenance.ts'
import type { Progress } from './run-progress.ts'
import { runToEnd, type RunEnd } from './run-to-end.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface CsvJob {
  input: string
  object: ObjectKind
  /** The user's own encoding and columns. */
  map?: ColumnMap | undefined
  encoding?: string | undefined
}

/** Opens and checks a CSV. Called before anything else starts. Throws ConfigError or InputError for a file that cannot be used. */
export async function openInput(config: Config, job: CsvJob): Promise<OpenedCsv> {
  const csv = await openCsv(job.input, {
    object: job.object,
    networkName: config.networkName,
    networkHosts: config.networkHosts,
    synonyms: config.csvSynonyms,
    map: job.map ?? {},
    encoding: job.encoding,
  })
  if (csv.wrongObject) throw new ConfigError('wrong_object', `${job.input}: ${csv.wrongObject}`)
  return csv
}

/** The plan of a file. */
export interface CsvPlan extends RunPlan {
  /** The encoding, separator and columns that were used. */
  input: CsvInput
  /** The command that carries out the plan; absent where it is not saved. */
  apply?: string | undefined
}

/** The way a file was read, and the reasons why rows of it are not looked up. Scripts rely on its form. */
export interface CsvInput extends CsvReading {
  file: string
  rows: number
  /** Rows with too few or too many cells. They are rejected. */
  ragged: number
  encoding: string
  separator: string
  /** The reasons why rows were rejected or skipped, the most frequent reason first, with the line of the first such row. */
  notLookedUp: { status: TaskStatus; reason: string; rows: number; firstLine: number }[]
}

/** Returns how a file was read, before anything is known of its rows. */
export function readingOf(csv: OpenedCsv): Omit<CsvInput, 'notLookedUp'> {
  const { path, rowCount: rows, problemCount: ragged, encoding, delimiter: separator, reading } = csv
  return { file: path, rows, ragged, encoding, separator, ...reading }
}

/**
 * Plans the enrichment of a file without paying: reads it as the run would and asks the ledger. With an id the plan is saved.
 * `out` is where its output is to go.
 */
export async function planCsv(
  context: Context,
  csv: OpenedCsv,
  {
    planId,
    recipe,
    out,
    force = false,
  }: {
    planId?: string | undefined
    recipe?: string | undefined
    out?: string | undefined
    force?: boolean | undefined
  } = {},
): Promise<CsvPlan> {
  const { run } = await openRun(context, csv, 'planned', recipe)
  try {
    const connector = createCsvConnector({ csv })
    const plan = await makePlan(context, {
      kind: 'csv',
      connector,
      run,
      source: {},
      job: { path: resolve(csv.path), sha256: csv.sha256, ...csv.told },
      planId,
      refusals: () => plannedRefusals(context, connector, run),
    })
    const reasons = await context.tasks.reasons(run.id)
    return {
      ...plan,
      input: {
        ...readingOf(csv),
        notLookedUp: reasons.map(({ status, reason, count, first }) => ({
          status,
          reason,
          rows: count,
          firstLine: Number(first),
        })),
      },
      apply: planId && applyCommandOf(planId, out ?? (await freeOutputName(csv.path)), { force }),
    }
  } finally {
    await context.runs.dropPlanned(run.id)
  }
}

export interface EnrichOptions {
  out: string
  /** True when a file at `out` may be replaced, as `claimOutput` decided. Default: true. */
  replace?: boolean | undefined
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onResumed?: ((run: Run) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
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
  { out, replace, signal, onProgress, onResumed, onNotice, recipe, planId, onOpened }: EnrichOptions,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const connector = createCsvConnector({ csv })
  const prepared = await prepareStart(context, connector, newRun(context, csv, recipe), onNotice)
  const told = { ...csv.told, out, plan: planId }
  const { run, resumed } = await openRun(context, csv, 'scanning', recipe, planId, told)
  if (resumed) onResumed?.(run)
  await onOpened?.(run)
  const end = await runToEnd(context, {
    prepared,
    run,
    connector,
    signal,
    searchableAtEnd: isAlone(context),
    onProgress,
    onNotice,
  })
  if (end !== 'interrupted') {
    await writeEnriched({
      input: csv,
      out,
      fields: context.config.recipes(csv.object, run.recipe).fields,
      results: results(context.tasks, run.id),
      replace,
      onComplete: (output) => noteOutput(context.database.db, run.id, output),
    })
    await tidy(context, signal)
  }
  return { end, summary: await summarise(context, run) }
}

/** True where no other process has the ledger: its desk is not served while this command runs. */
function isAlone({ database }: Context): boolean {
  return database.kind === 'pglite'
}

/** A log that is left lying is read again only after a crash, and takes room until the next file. */
const restingWalBytes = 32 * 1_024 * 1_024

/** The result is written, and nobody waits for the ledger. What does not succeed now is done after the next file. */
async function tidy(context: Context, signal: AbortSignal): Promise<void> {
  const { database, log } = context
  try {
    if (isAlone(context)) await makeRestSearchable(context, signal)
    // A new index stands beside the old one for a moment: the room that is free by then is given back first.
    await database.pages?.settle(signal)
    await compactIndexes(database, { signal })
    await checkpointWhenLong(database, restingWalBytes)
    await database.pages?.settle(signal)
  } catch (error) {
    moduleLog(log, 'runs').warn({ problem: describeError(error) }, 'the ledger was not tidied up')
  }
}

function openRun(
  context: Context,
  csv: OpenedCsv,
  state: 'planned' | 'scanning',
  wanted: string | undefined,
  planId = '',
  told: ToldFile = {},
) {
  const run = newRun(context, csv, wanted, told)
  return context.runs.open({
    id: newRunId(context),
    ...run,
    trigger: 'csv',
    state,
    fingerprint: createHash('sha256')
      .update(
        `csv|${csv.object}|${run.recipe}|${csv.sha256}${planId && `|${planId}`}${csv.readAs && `|${csv.readAs}`}`,
      )
      .digest('hex'),
  })
}

/** The options of the command that began a run: the same ones continue it. */
export interface ToldFile extends Partial<OpenedCsv['told']> {
  out?: string
  plan?: string | undefined
}

function newRun(
  { config }: Context,
  csv: OpenedCsv,
  recipe: string | undefined,
  told: ToldFile = {},
): JudgedRun {
  return {
    connector: 'csv',
    object: csv.object,
    entity: csv.object,
    recipe: config.recipes(csv.object, recipe ?? config.defaultRecipe).name,
    source: { file: basename(csv.path), path: resolve(csv.path), sha256: csv.sha256, told },
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
