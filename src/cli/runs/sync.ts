import { openConnector } from '../../app/context/connectors.ts'
import type { Context } from '../../app/context/context.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import { planText, totalText, type RunPlan } from '../../app/plans/plan-text.ts'
import { worstEnd, type RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { entitiesOf } from '../../app/context/entities.ts'
import { checkJobs, planSync, syncEntity, type SyncJob } from '../../app/runs/sync.ts'
import type { Connector, ScanFilter } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { parseUsd } from '../../domain/money.ts'
import { exitStatus, statusOfEnd } from '../terminal/exit.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { createProgressView } from '../terminal/progress.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  object?: string
  recipe?: string
  since?: Date
  limit?: number
  filter: ScanFilter[]
  refresh?: true
  plan?: true
  json?: true
}

export async function syncCrm(name: CrmName, options: Options): Promise<void> {
  if (options.refresh && (options.since || options.filter.length > 0)) {
    throw new ConfigError(
      'bad_options',
      '--refresh reads records from the ledger: it cannot be combined with --since or --filter',
    )
  }
  const signal = stopSignal()
  await withContext(async (context) => {
    const engine = options.plan ? undefined : await context.openEngine()
    const connector = await openConnector(context.config, name, engine)
    try {
      const { recipe, since, refresh, limit, filter: conditions } = options
      const jobs = entitiesOf(connector, options.object).map((entity): SyncJob => ({
        entity,
        filter: conditions,
        recipe,
        since,
        limit,
        refresh,
      }))
      if (options.plan) await showPlans(context, connector, jobs, signal, options)
      else await syncAll(context, connector, jobs, signal, options)
    } finally {
      await connector.close()
    }
  })
}

async function syncAll(
  context: Context,
  connector: Connector,
  jobs: readonly SyncJob[],
  signal: AbortSignal,
  { json }: Options,
): Promise<void> {
  const onNotice = (text: string) => printError(`paydirt: ${text}\n`)
  const checked = await checkJobs(context, connector, jobs, onNotice)
  const unready = checked.flatMap((each) => ('unready' in each ? [each] : []))
  if (unready[0] && unready.length === jobs.length) throw unready[0].unready
  // Said before anything is bought, so that it can still be stopped.
  sayLeftOut(unready)
  const ends: { end: RunEnd; summary: RunSummary }[] = []
  for (const each of checked) {
    if ('unready' in each) continue
    const view = createProgressView({
      total: undefined,
      nowMs: () => performance.now(),
    })
    const result = await syncEntity(context, connector, each.job, {
      prepared: each.prepared,
      signal,
      onProgress: (progress) => view.show(progress),
      onNotice,
      onResumed: (resumed) =>
        printError(`paydirt: continuing run ${resumed.id}, started ${utcMinute(resumed.startedAt)}\n`),
    }).finally(() => view.end())
    ends.push(result)
    if (!json) print(summaryText(result.summary, result.end, undefined))
    if (result.end === 'interrupted') break
  }
  if (json) printDocuments(ends.map(({ summary }) => summary))
  process.exitCode = statusOfEnd[worstEnd(ends.map(({ end }) => end))]
  if (unready.length > 0 && process.exitCode !== exitStatus.interrupted) process.exitCode = exitStatus.usage
}

async function showPlans(
  context: Context,
  connector: Connector,
  jobs: readonly SyncJob[],
  signal: AbortSignal,
  { json }: Options,
): Promise<void> {
  const plans: RunPlan[] = []
  const unready: { job: SyncJob; unready: ConfigError }[] = []
  for (const job of jobs) {
    try {
      // Objects are synced in this order, so the most that those before it spend is not there for this one.
      const planned = plans.reduce((sum, { cost }) => sum + parseUsd(cost.high), 0n)
      const plan = await planSync(context, connector, job, signal, newPlanId(context), planned)
      plans.push(plan)
      if (!json) print(`${job.entity}: ${planText(plan)}`)
    } catch (error) {
      // An object that is not ready does not stop the others.
      if (!(error instanceof ConfigError)) throw error
      unready.push({ job, unready: error })
    }
  }
  if (unready[0] && unready.length === jobs.length) throw unready[0].unready
  if (json) printDocuments(plans)
  else if (plans.length > 1) print(totalText(plans))
  sayLeftOut(unready)
  process.exitCode = unready.length > 0 ? exitStatus.usage : exitStatus.done
}

function sayLeftOut(unready: readonly { job: SyncJob; unready: ConfigError }[]): void {
  for (const { job, unready: error } of unready)
    printError(`paydirt: ${job.entity} left out: ${error.message}\n`)
}

function printDocuments(documents: readonly unknown[]): void {
  print(`${JSON.stringify(documents.length === 1 ? documents[0] : documents)}\n`)
}
