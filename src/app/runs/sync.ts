import { createHash } from 'node:crypto'
import type { Connector, ScanFilter } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import { fieldLeftOut } from '../../domain/mapping/mapping.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Run } from '../../store/runs/runs.ts'
import { createWatermarkLedger, type WatermarkKey } from '../../store/runs/watermarks.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import type { JudgedRun } from './left-out.ts'
import { makePlan } from '../plans/make-plan.ts'
import type { RunPlan } from '../plans/plan-text.ts'
import { plannedRefusals, prepareStart, type Prepared } from './preflight.ts'
import type { Progress } from './run-progress.ts'
import { runToEnd, type RunEnd } from './run-to-end.ts'
import { staleOnly } from './refresh.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface SyncJob {
  entity: string
  /** Default: the configured one. */
  recipe?: string | undefined
  /** Read the records that changed since then, also those that an earlier sync has read. */
  since?: Date | undefined
  limit?: number | undefined
  /** Read records whose answers are no longer fresh, the oldest answer first, instead of changed records. */
  refresh?: boolean | undefined
  filter: readonly ScanFilter[]
}

/**
 * Problems that do not prevent a sync. Without our own fields in the CRM, the ledger alone recognises our own writes. A
 * field of the default mapping that the account lacks is left out, and records that the user does not see are not read.
 */
export const optionalCodes = new Set([
  'own_field_missing',
  'own_fields_missing',
  'record_access',
  'value_rules',
  fieldLeftOut,
])

/**
 * Creates our own fields where they are missing. Throws ConfigError for a problem of these entities that a person must fix
 * first.
 */
export async function makeReady(connector: Connector, entities: readonly string[]): Promise<void> {
  try {
    for (const entity of entities) await connector.ensureFields(entity, { dryRun: false })
  } catch (error) {
    // The first refusal names one right; the check names all that are missing.
    if (error instanceof ConfigError) await assertReady(connector, entities)
    throw error
  }
  await assertReady(connector, entities)
}

/** Returns why a sync would not begin now. Creates nothing in the CRM. */
export async function syncRefusals(
  context: Context,
  connector: Connector,
  run: JudgedRun,
): Promise<ConfigError[]> {
  return [...(await plannedRefusals(context, connector, run)), ...(await crmRefusals(connector, run.entity))]
}

/** Returns what a person must correct in the CRM before a sync would begin. Creates nothing. */
async function crmRefusals(connector: Connector, entity: string): Promise<ConfigError[]> {
  try {
    await assertReady(connector, [entity])
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [error]
    throw error
  }
}

async function assertReady(connector: Connector, entities: readonly string[]): Promise<void> {
  const { problems, missingScopes } = await connector.check(entities)
  if (missingScopes.length > 0) {
    throw new ConfigError(
      'missing_scopes',
      `${connector.name}: the token lacks ${missingScopes.join(', ')}. Grant these scopes to the app and use its new token`,
    )
  }
  const problem = problems.find(({ code }) => !optionalCodes.has(code))
  if (problem) throw new ConfigError(problem.code, `${connector.name}: ${problem.message}. ${problem.todo}`)
}

/**
 * Plans a sync without paying or writing anything: scans as the sync would and asks the ledger. With an id the plan is saved.
 * `plannedAtomic` is what the objects before it may spend of the budgets that they share.
 */
export async function planSync(
  context: Context,
  connector: Connector,
  job: SyncJob,
  signal: AbortSignal,
  planId?: string,
  plannedAtomic?: Atomic,
): Promise<RunPlan> {
  const { run } = await openRun(context, connector, job, 'planned')
  try {
    return await makePlan(context, {
      kind: 'sync',
      connector: scanned(context, connector, job),
      run,
      source: await sourceOf(context, connector, job, signal),
      job: { ...run.source },
      planId,
      plannedAtomic,
      refusals: () => syncRefusals(context, connector, run),
    })
  } finally {
    await context.runs.dropPlanned(run.id)
  }
}

/** An object of a sync that is ready to begin, or why it is not. */
export type CheckedJob = { job: SyncJob; prepared: Prepared } | { job: SyncJob; unready: ConfigError }

/**
 * Checks every object of a sync before anything is bought for the first: the account's rights and mapping, then recipe,
 * prices, settings and addresses. An object for which the account is not ready does not stop the others. Throws ConfigError
 * for what is wrong with the command or the settings.
 */
export async function checkJobs(
  context: Context,
  connector: Connector,
  jobs: readonly SyncJob[],
  onNotice?: (text: string) => void,
): Promise<CheckedJob[]> {
  const runs = jobs.map((job) => judgedNamed(context, connector, job, jobs.length > 1))
  const checked: CheckedJob[] = []
  for (const [index, job] of jobs.entries()) {
    try {
      await makeReady(connector, [job.entity])
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      checked.push({ job, unready: error })
      continue
    }
    checked.push({ job, prepared: await prepareStart(context, connector, runs[index]!, onNotice) })
  }
  return checked
}

function judgedNamed(
  context: Context,
  connector: Connector,
  job: SyncJob,
  isOneOfSeveral: boolean,
): JudgedRun {
  try {
    return judgedRun(context, connector, job)
  } catch (error) {
    if (!(error instanceof ConfigError) || !isOneOfSeveral) throw error
    const message = `${job.entity}: ${error.message}. --object syncs one object alone`
    throw new ConfigError(error.code, message, { cause: error })
  }
}

export interface SyncOptions {
  /** The result of `checkJobs`, where it has run already. */
  prepared?: Prepared | undefined
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onResumed?: ((run: Run) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

/**
 * Syncs one entity to its end. The next increment begins where this scan ended; that place is saved only when every record
 * of the scan is a task. An interrupted sync continues its own scan first.
 */
export async function syncEntity(
  context: Context,
  connector: Connector,
  job: SyncJob,
  { prepared: checked, signal, onProgress, onResumed, onNotice }: SyncOptions,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const prepared =
    checked ?? (await prepareStart(context, connector, judgedRun(context, connector, job), onNotice))
  const { run, resumed } = await openRun(context, connector, job, 'scanning')
  if (resumed) onResumed?.(run)
  const { signal: _, ...source } = await sourceOf(context, connector, job, signal)
  const end = await runToEnd(context, {
    prepared,
    run,
    connector: scanned(context, connector, job),
    source,
    signal,
    onScanned: (watermark) => advanceWatermark(context, connector, job, run, watermark),
    onProgress,
    onNotice,
  })
  return { end, summary: await summarise(context, run) }
}

/** Returns the source of a job's records: the CRM, or for a refresh the ledger. */
export function scanned(context: Context, connector: Connector, job: SyncJob): Connector {
  return job.refresh ? staleOnly(context, connector, job.recipe ?? context.config.defaultRecipe) : connector
}

/** Returns which part of the connector is read: behind the watermark, or since a time. */
export async function sourceOf(context: Context, connector: Connector, job: SyncJob, signal: AbortSignal) {
  const { since, limit, filter, refresh } = job
  const after = since || refresh ? undefined : await watermarks(context).get(keyOf(context, connector, job))
  return {
    signal,
    after,
    since,
    limit,
    filter: filter.length > 0 ? filter : undefined,
  }
}

/** Moves the watermark. A sync with `--since` and a refresh leave it, because they do not read all that changed after it. */
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
    // Another recipe fills other fields of the same records, so it has a watermark of its own.
    filter: [
      ...(recipe === config.defaultRecipe ? [] : [`recipe ${recipe}`]),
      ...(job.filter.length > 0 ? [JSON.stringify(job.filter)] : []),
    ].join(' '),
  }
}

/** Opens a run, or continues the unfinished one of the same job. An `occasion` separates runs of the same job. */
export function openRun(
  context: Context,
  connector: Connector,
  job: SyncJob,
  state: 'planned' | 'scanning',
  { trigger = 'sync', occasion }: { trigger?: string; occasion?: string | undefined } = {},
) {
  const recipe = job.recipe ?? context.config.defaultRecipe
  const run = judgedRun(context, connector, job)
  return context.runs.open({
    id: newRunId(context),
    ...run,
    trigger,
    state,
    fingerprint: createHash('sha256')
      .update(
        JSON.stringify([connector.name, run.source, recipe, ...(occasion === undefined ? [] : [occasion])]),
      )
      .digest('hex'),
  })
}

/** Returns what is known of a job's run before it is opened. */
export function judgedRun({ config }: Context, connector: Connector, job: SyncJob): JudgedRun {
  const object = connector.entities[job.entity] as ObjectKind
  return {
    connector: connector.name,
    object,
    entity: job.entity,
    recipe: config.recipes(object, job.recipe ?? config.defaultRecipe).name,
    source: {
      entity: job.entity,
      since: job.since?.toISOString() ?? null,
      limit: job.limit ?? null,
      filter: job.filter,
      // Left out, not false: the text of this object is part of the fingerprint.
      refresh: job.refresh || undefined,
    },
  }
}
