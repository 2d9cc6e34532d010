import { createHash } from 'node:crypto'
import type { Connector, ScanFilter } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Run } from '../../store/runs/runs.ts'
import { createWatermarkLedger, type WatermarkKey } from '../../store/runs/watermarks.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { makePlan } from '../plans/make-plan.ts'
import type { RunPlan } from '../plans/plan-text.ts'
import { runToEnd, type Progress, type RunEnd } from './run-to-end.ts'
import { staleOnly } from './refresh.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface SyncJob {
  entity: string
  /** Default: the config's. */
  recipe?: string
  /** Read what changed since then, whatever the last sync has seen. */
  since?: Date
  limit?: number
  /** Instead of what has changed: what was answered longest ago and is no longer fresh. */
  refresh?: boolean
  filter: readonly ScanFilter[]
}

/** Without our own fields in the CRM a sync still works; only our own writes are then looked at again, from the ledger. */
export const optionalCodes = new Set(['own_field_missing', 'own_fields_missing'])

/** Creates our own fields where they are missing, and refuses to begin while something is wrong that a person must mend. */
export async function makeReady(connector: Connector, entities: readonly string[]): Promise<void> {
  for (const entity of entities) await connector.ensureFields(entity, { dryRun: false })
  const { problems, missingScopes } = await connector.check()
  const problem = problems.find(({ code }) => !optionalCodes.has(code))
  if (problem) throw new ConfigError(problem.code, `${connector.name}: ${problem.message}. ${problem.todo}`)
  if (missingScopes.length > 0) {
    throw new ConfigError('missing_scopes', `${connector.name}: the token lacks ${missingScopes.join(', ')}`)
  }
}

/** Scans what a sync would scan, and asks the ledger what it holds. Pays nothing, writes nothing. With a name it is kept. */
export async function planSync(
  context: Context,
  connector: Connector,
  job: SyncJob,
  signal: AbortSignal,
  planId?: string,
): Promise<RunPlan> {
  const { run } = await openRun(context, connector, job, 'planned')
  try {
    return await makePlan(context, {
      kind: 'sync',
      connector: scanned(context, connector, job),
      run,
      source: await sourceOf(context, connector, job, signal),
      job: { ...run.source },
      ...(planId === undefined ? {} : { planId }),
    })
  } finally {
    await context.runs.dropPlanned(run.id)
  }
}

export interface SyncOptions {
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
  onResumed?: (run: Run) => void
  onNotice?: (text: string) => void
}

/**
 * Syncs one entity to its end. The next increment begins where this scan ended, and that is stored only now that every
 * record of it is a task. A sync broken off goes on with its own scan first.
 */
export async function syncEntity(
  context: Context,
  connector: Connector,
  job: SyncJob,
  { signal, onProgress, onResumed, onNotice }: SyncOptions,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const { run, resumed } = await openRun(context, connector, job, 'scanning')
  if (resumed) onResumed?.(run)
  const { signal: _, ...source } = await sourceOf(context, connector, job, signal)
  const end = await runToEnd(context, {
    run,
    connector: scanned(context, connector, job),
    source,
    signal,
    onScanned: (watermark) => advanceWatermark(context, connector, job, run, watermark),
    ...(onProgress ? { onProgress } : {}),
    ...(onNotice ? { onNotice } : {}),
  })
  return { end, summary: await summarise(context, run) }
}

/** Where a job's records come from: the CRM, or for a refresh the ledger. */
export function scanned(context: Context, connector: Connector, job: SyncJob): Connector {
  return job.refresh ? staleOnly(context, connector, job.recipe ?? context.config.defaultRecipe) : connector
}

/** What of the connector is read: behind the watermark, or since a time. */
export async function sourceOf(context: Context, connector: Connector, job: SyncJob, signal: AbortSignal) {
  const { since, limit, filter, refresh } = job
  const after = since || refresh ? undefined : await watermarks(context).get(keyOf(context, connector, job))
  return {
    signal,
    ...(after === undefined ? {} : { after }),
    ...(since ? { since } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(filter.length > 0 ? { filter } : {}),
  }
}

/** A look back with `--since`, or a refresh, says nothing of what lies between: it leaves the watermark where it is. */
export async function advanceWatermark(
  context: Context,
  connector: Connector,
  job: SyncJob,
  run: Run,
  watermark: string,
): Promise<void> {
  if (!job.since && !job.refresh)
    await watermarks(context).move(keyOf(context, connector, job), watermark, run.id)
}

function watermarks(context: Context) {
  return createWatermarkLedger(context.database.db, { now: context.now })
}

function keyOf({ config }: Context, connector: Connector, job: SyncJob): WatermarkKey {
  const recipe = job.recipe ?? config.defaultRecipe
  return {
    connector: connector.name,
    entity: job.entity,
    // Another recipe wants other things of the same records: it has its own place in the source.
    filter: [
      ...(recipe === config.defaultRecipe ? [] : [`recipe ${recipe}`]),
      ...(job.filter.length > 0 ? [JSON.stringify(job.filter)] : []),
    ].join(' '),
  }
}

/** `occasion` tells runs of the same job apart: without it an unfinished one is gone on with. */
export function openRun(
  context: Context,
  connector: Connector,
  job: SyncJob,
  state: 'planned' | 'scanning',
  { trigger = 'sync', occasion }: { trigger?: string; occasion?: string } = {},
) {
  const { runs, config } = context
  const object = connector.entities[job.entity] as ObjectKind
  const recipe = job.recipe ?? config.defaultRecipe
  const source = {
    entity: job.entity,
    since: job.since?.toISOString() ?? null,
    limit: job.limit ?? null,
    filter: job.filter,
    ...(job.refresh ? { refresh: true } : {}),
  }
  return runs.open({
    id: newRunId(context),
    connector: connector.name,
    object,
    entity: job.entity,
    recipe: config.recipes(object, recipe).name,
    trigger,
    state,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([connector.name, source, recipe, ...(occasion === undefined ? [] : [occasion])]))
      .digest('hex'),
    source,
  })
}
