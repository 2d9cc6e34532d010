import type { Connector } from '../../../connectors/connector.ts'
import { firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import { parseUsd, type Atomic } from '../../../domain/money.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { RunPlan } from '../../plans/plan-text.ts'
import type { JudgedStoredRow } from '../judging/judged-rows.ts'
import { rowsRun } from './enrich-rows.ts'
import { firstUpdatePlace } from './places.ts'
import { measureRows } from './measure-rows.ts'
import { rowsConnector } from './rows-connector.ts'
import { existingOf } from './update-existing.ts'

/** The lookups for rows of a list, and what they cost. Scripts rely on its form. */
export type PlannedLookups = Pick<
  RunPlan,
  'lookups' | 'outcomes' | 'cost' | 'uncapped' | 'steps' | 'limits' | 'leftOut' | 'reasons'
> & { recipe: string; records: number }

/** The part of a list's plan that costs money. */
export interface PlannedCosts {
  /** For new rows, before they become records. Null: nothing is bought for them. */
  enrichment: PlannedLookups | null
  /** For records that exist. Null: the list does not update any. */
  updates: PlannedLookups | null
  toBuy: number
  highAtomic: Atomic
  refusals: string[]
}

/** Returns what takes the rows of a list that are records already, for the plan of a list that updates those. */
export function rowsToUpdate({ recipe, into }: Pick<ListSettings, 'recipe' | 'into'>): {
  /** Returns the rows of a batch that the plan keeps. */
  add(batch: readonly JudgedStoredRow[]): PlannedRow[]
  count(): number
} {
  let kept = 0
  return {
    add(batch) {
      if (!into.update || recipe === undefined) return []
      const rows = batch.flatMap(({ verdict, ordinal, records, row }): PlannedRow[] => {
        const [found, ...others] = records
        if (verdict !== 'exists' || !found || others.length > 0 || found.entity !== into.entity) return []
        const { identity, identities, values, page, lookupKey } = row
        const { recordId } = found
        const place = firstUpdatePlace + ordinal
        const key = `update-${recordId}`
        return [{ ordinal: place, key, identity, identities, values, page, lookupKey, recordId }]
      })
      kept += rows.length
      return rows
    },
    count: () => kept,
  }
}

/** Plans what a list's recipe would buy for the rows of a plan. Pays nothing. */
export async function planCosts(
  context: Context,
  target: Connector,
  plan: Pick<Plan, 'id' | 'object' | 'entity'>,
  given: { list: string; settings: ListSettings; creates: number; updates: number },
): Promise<PlannedCosts> {
  const { list, settings, creates, updates } = given
  const { recipe, into } = settings
  if (recipe === undefined || creates + updates === 0)
    return { enrichment: null, updates: null, toBuy: 0, highAtomic: 0n, refusals: [] }
  const planned = createPlannedRows(context.database.db)
  const rows = rowsConnector(target, plan.entity, { planId: plan.id, planned, before: firstCompanyPlace })
  const made = await measureRows(context, rows, rowsRun(plan, list, recipe, rows))
  const existing = existingOf(context, target, plan, null)
  const highAtomic = parseUsd(made.uncapped.high)
  const updated = into.update
    ? await measureRows(context, existing, rowsRun(plan, list, recipe, existing), highAtomic)
    : undefined
  const all = updated ? [made, updated] : [made]
  return {
    enrichment: lookupsOf(recipe, made),
    updates: updated ? lookupsOf(recipe, updated) : null,
    toBuy: all.reduce((sum, { lookups }) => sum + lookups.toBuy, 0),
    highAtomic: all.reduce((sum, { uncapped }) => sum + parseUsd(uncapped.high), 0n),
    refusals: [...new Set(all.flatMap(({ refusals }) => refusals.map(({ message }) => message)))],
  }
}

function lookupsOf(recipe: string, plan: RunPlan): PlannedLookups {
  const { records, lookups, outcomes, cost, uncapped, steps, limits, leftOut, reasons } = plan
  return { recipe, records, lookups, outcomes, cost, uncapped, steps, limits, leftOut, reasons }
}
