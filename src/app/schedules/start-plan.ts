import { ConfigError } from '../../domain/errors.ts'
import { createPlanLedger, type Plan } from '../../store/plans/plans.ts'
import { startPlannedRun, type PlanStart } from '../../store/plans/start-plan.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { rulesDigest } from '../plans/make-plan.ts'
import { drifted } from '../runs/apply-plan.ts'
import { syncRefusals } from '../runs/sync.ts'
import { withConnector } from '../context/connectors.ts'

/** Answers grow stale and records change, so what a plan says of its cost does not hold for ever. */
export const planHoldsMs = 3_600_000

/**
 * Begins the run of a plan and returns it: the plan's records, recipe and limit, and no others. A scheduler scans it within
 * seconds. Started again, a plan returns the run that it has. Throws ConfigError when the plan no longer holds: the rules
 * have changed, it is older than an hour, or a run would not begin now.
 */
export async function startPlan(
  context: Context,
  planId: string,
  by: { actor: string; role: string },
): Promise<PlanStart> {
  const plan = await createPlanLedger(context.database.db, { now: context.now }).get(planId)
  if (!plan || plan.document['plan'] !== true)
    throw new ConfigError('no_such_plan', `there is no plan ${planId}`)
  if (plan.runId !== null) return { runId: plan.runId, isNew: false }
  if (!isPlainSync(plan))
    throw new ConfigError('not_here', `\`paydirt apply ${planId}\` carries out this plan, not the desk`)
  if (rulesDigest(context, plan) !== plan.job['rules'])
    throw drifted(plan, 'the recipe or the policies have changed since')
  if (context.now().getTime() - plan.madeAt.getTime() > planHoldsMs)
    throw drifted(plan, 'it was made more than an hour ago')
  const limit = limitOf(plan)
  const { connector, object, entity, recipe } = plan
  const run = { connector, object, entity, recipe, source: { plan: planId, entity, limit } }
  const [refusal] = await withConnector(context, connector, (open) => syncRefusals(context, open, run))
  if (refusal) throw refusal
  return startPlannedRun(context.database.db, planId, { id: newRunId(context), ...run, limit }, by, {
    now: context.now,
  })
}

/** The schedulers read what is new in a source, from its watermark on. Other plans are for the command line. */
export function isPlainSync({ kind, job }: Plan): boolean {
  const { since, filter, refresh } = job
  return kind === 'sync' && !since && !refresh && (!Array.isArray(filter) || filter.length === 0)
}

export function limitOf({ job }: Plan): number | null {
  return typeof job['limit'] === 'number' ? job['limit'] : null
}
