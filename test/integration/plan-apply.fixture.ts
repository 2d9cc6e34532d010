import { openConnector } from '../../src/app/context/connectors.ts'
import { applyPlan, readPlan, withinPlan } from '../../src/app/runs/apply-plan.ts'
import type { CrmHouse } from './crm-house.ts'

/** Applies a plan as its command does: under the plan's bounds. */
export async function applyIn(house: CrmHouse, id: string, out?: string) {
  const plan = await readPlan(house.context, id)
  // One process has the embedded database: the house is left for a moment, and entered under the plan's bounds.
  const { config } = house.context
  const bounds = withinPlan(config, plan)
  Object.assign(config, { policy: bounds.policy, caps: bounds.caps })
  return applyPlan(house.context, plan, {
    out,
    signal: new AbortController().signal,
    openConnector: () => openConnector(config, 'hubspot', undefined),
  })
}
