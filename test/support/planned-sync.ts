import type { Context } from '../../src/app/context/context.ts'
import { openSyncPlans } from '../../src/app/web/sync-plans.ts'

/** Syncs an object of HubSpot as an operator does at the desk: makes the plan, starts it, and returns its run. */
export async function startPlannedSync(
  context: Context,
  entity: string,
  recipe = 'profile',
): Promise<{ runId: string }> {
  const plans = openSyncPlans(context, new AbortController().signal)
  const { planId } = await plans.make({ connector: 'hubspot', entity, recipe, limit: undefined })
  await plans.idle()
  return plans.start(planId, { actor: 'otto', role: 'operator' })
}
