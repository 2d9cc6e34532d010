import type { Context } from '../app/context/context.ts'
import { entitiesOf } from '../app/context/entities.ts'
import { newPlanId } from '../app/context/new-id.ts'
import type { RunPlan } from '../app/plans/plan-text.ts'
import { worstEnd } from '../app/runs/run-to-end.ts'
import { checkJobs, planSync, syncEntity, type SyncJob } from '../app/runs/sync.ts'
import type { Connector } from '../connectors/connector.ts'
import { ConfigError } from '../domain/errors.ts'
import { parseUsd } from '../domain/money.ts'
import type { EndedRun, LeftOutObject, Synced, SyncPlans, SyncWork } from './types.ts'
import { endedEvent, progressEvent, type Work } from './work.ts'

/** Throws ConfigError for settings of a sync that exclude each other. */
export function assertSyncWork({ refresh, since, filter = [] }: SyncWork): void {
  if (refresh && (since || filter.length > 0))
    throw new ConfigError(
      'bad_options',
      '--refresh reads records from the ledger: it cannot be combined with --since or --filter',
    )
}

export async function planObjects(
  context: Context,
  connector: Connector,
  work: SyncWork,
  { emit, signal }: Work,
): Promise<SyncPlans> {
  const jobs = jobsOf(connector, work)
  const plans: RunPlan[] = []
  const leftOut: LeftOutObject[] = []
  for (const job of jobs) {
    try {
      // Objects are synced in this order, so the most that those before it spend is not there for this one.
      const planned = plans.reduce((sum, { cost }) => sum + parseUsd(cost.high), 0n)
      const plan = await planSync(context, connector, job, signal, newPlanId(context), planned)
      plans.push(plan)
      emit({ type: 'planned', entity: job.entity, plan })
    } catch (error) {
      // An object that is not ready does not stop the others.
      if (!(error instanceof ConfigError)) throw error
      leftOut.push({ entity: job.entity, error })
    }
  }
  if (leftOut[0] && leftOut.length === jobs.length) throw leftOut[0].error
  return { plans, leftOut }
}

export async function syncObjects(
  context: Context,
  connector: Connector,
  work: SyncWork,
  { emit, signal }: Work,
): Promise<Synced> {
  const jobs = jobsOf(connector, work)
  const onNotice = (text: string) => emit({ type: 'notice', text })
  const checked = await checkJobs(context, connector, jobs, onNotice)
  const leftOut = checked.flatMap((each) =>
    'unready' in each ? [{ entity: each.job.entity, error: each.unready }] : [],
  )
  if (leftOut[0] && leftOut.length === jobs.length) throw leftOut[0].error
  // Said before anything is bought, so that it can still be stopped.
  for (const each of leftOut) emit({ type: 'left_out', connector: connector.name, ...each })
  const runs: EndedRun[] = []
  for (const each of checked) {
    if ('unready' in each) continue
    emit({ type: 'object', connector: connector.name, entity: each.job.entity })
    const ended = await syncEntity(context, connector, each.job, {
      prepared: each.prepared,
      signal,
      onProgress: (progress) => emit(progressEvent(progress)),
      onNotice,
      onResumed: ({ id, startedAt }) => emit({ type: 'resumed', runId: id, startedAt }),
    })
    runs.push(ended)
    emit(endedEvent(ended))
    if (ended.end === 'interrupted') break
  }
  return { end: worstEnd(runs.map(({ end }) => end)), runs, leftOut }
}

function jobsOf(connector: Connector, work: SyncWork): SyncJob[] {
  const { object, recipe, since, refresh, limit, filter = [] } = work
  return entitiesOf(connector, object).map((entity) => ({ entity, filter, recipe, since, limit, refresh }))
}
