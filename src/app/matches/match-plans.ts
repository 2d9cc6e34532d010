import { ConfigError } from '../../domain/errors.ts'
import type { PlannedStep } from '../../store/database/tables/match-tables.ts'
import { createCreatedRecords } from '../../store/lists/created-records.ts'
import { createPlanLedger, type Plan } from '../../store/plans/plans.ts'
import { newPlanId } from '../context/new-id.ts'
import { applyList } from '../lists/making/apply-list.ts'
import type { MakingConnector } from '../lists/making/fit-row.ts'
import { planList, type ListPlan } from '../lists/making/plan-list.ts'
import type { ListCalls } from '../lists/pages/list-calls.ts'
import { MatchWaits, type MatchWork } from './match-work.ts'

/** Returns the plan that was made for a step. One that was begun and not finished is deleted: its process has died. */
export async function notedPlan({ context, match }: MatchWork, step: PlannedStep): Promise<Plan | undefined> {
  const id = match.plans[step]
  const plans = createPlanLedger(context.database.db, context)
  const plan = id === undefined ? undefined : await plans.get(id)
  if (plan && 'creates' in plan.document) return plan
  if (plan) await plans.drop(plan.id)
  return undefined
}

/** Makes the plan of a step, with the verdicts of its rows. Undefined where nothing is to be made or updated. */
export async function planStep(
  work: MatchWork,
  step: PlannedStep,
  calls: ListCalls,
): Promise<{ plan: Plan | undefined; verdicts: ListPlan['verdicts'] }> {
  const { context, connector, signal, matches, match } = work
  const plans = createPlanLedger(context.database.db, context)
  const planId = newPlanId(context)
  await matches.notePlan(match.id, step, planId)
  const plan = await planList(context, calls, connector, planId, { signal })
  const { verdicts } = plan
  if (plan.creates + (plan.updates?.records ?? 0) === 0) {
    await plans.drop(planId)
    return { plan: undefined, verdicts }
  }
  const [refused] = plan.refusals
  if (refused !== undefined) {
    await plans.drop(planId)
    throw new ConfigError('list_refused', refused)
  }
  return { plan: await plans.get(planId), verdicts }
}

/** The result of a step's plan. */
export interface AppliedStep {
  runId: string
  created: number
  exists: number
  /** Rows of which no record was made, and why. */
  left: number
}

/** Carries the plan of a step out, unless that was done before. Throws MatchWaits where it has not ended. */
export async function applyStep(
  { context, connector, signal }: MatchWork & { connector: MakingConnector },
  plan: Plan,
): Promise<AppliedStep> {
  const run = plan.runId === null ? undefined : await context.runs.get(plan.runId)
  if (run?.state !== 'finished') {
    const applied = await applyList(context, plan, { connector, signal })
    if (applied.end !== 'finished')
      throw new MatchWaits(applied.reason ?? `run ${applied.runId} has not ended`)
    return { ...applied, left: applied.left + applied.rejected }
  }
  const counts = await createCreatedRecords(context.database.db, context).counts(run.id)
  const sum = (...states: string[]) =>
    counts
      .filter(({ state, entity }) => entity === plan.entity && states.includes(state))
      .reduce((total, { count }) => total + count, 0)
  return {
    runId: run.id,
    created: sum('created', 'archived'),
    exists: sum('exists'),
    left: sum('left', 'rejected'),
  }
}
