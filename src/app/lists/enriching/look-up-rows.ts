import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import { parseUsd, type Atomic } from '../../../domain/money.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { Progress } from '../../runs/run-progress.ts'
import type { RunEnd } from '../../runs/run-to-end.ts'
import type { RunSummary } from '../../runs/summary.ts'
import { enrichRows } from './enrich-rows.ts'
import type { PlannedLookups } from './plan-costs.ts'
import { updateExisting, type UpdatedExisting } from './update-existing.ts'

/** The lookups for the rows of a plan that were asked for, and what is to be done with them. */
export interface ListLookups {
  end: RunEnd
  /** The same, as the end of the plan where all its records are made. */
  ended: { end: RunEnd; reason?: string }
  /** Null: nothing was looked up. */
  summary: RunSummary | null
  /** The settings by which rows are judged from now on: what was bought for them is there. */
  settings: ListSettings
  /** Returns those of the rows whose lookups have ended, with what was bought for them. */
  bought(rows: readonly PlannedRow[]): Promise<readonly PlannedRow[]>
  /** Enriches the records that exist. Undefined: there is none, or the list updates none. */
  update(runId: string): Promise<UpdatedExisting | undefined>
}

export interface LookUpRowsOptions {
  list: string
  settings: ListSettings
  /** The most that this call may spend on lookups of rows and of records that exist, together. */
  mostAtomic?: Atomic | undefined
  signal: AbortSignal
  onLookups?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

/** Looks up the new rows of a plan by the recipe of their list. A list without a recipe looks nothing up. */
export async function lookUpRows(
  context: Context,
  connector: Connector & { maker: RecordMaker },
  plan: Plan,
  { list, settings, mostAtomic, signal, onLookups, onNotice }: LookUpRowsOptions,
): Promise<ListLookups> {
  const { recipe, into } = settings
  if (recipe === undefined)
    return {
      end: 'finished',
      ended: { end: 'finished' },
      summary: null,
      settings,
      bought: async (rows) => rows,
      update: async () => undefined,
    }
  const shared = { list, recipe, signal, onProgress: onLookups, onNotice }
  const toMake = Number(plan.document['creates'] ?? 0)
  const rows =
    toMake === 0
      ? undefined
      : await enrichRows(context, connector, plan, {
          ...shared,
          settings,
          highAtomic: costOf(plan, 'enrichment'),
          mostAtomic,
        })
  // One budget for both: records are updated with what the rows have left of it.
  const leftAtomic =
    mostAtomic === undefined ? undefined : atLeastZero(mostAtomic - (rows?.spentAtomic ?? 0n))
  const end = rows?.end ?? 'finished'
  return {
    end,
    ended: end === 'finished' || !rows ? { end } : { end, reason: waitsText(rows.summary.runId, 'rows') },
    summary: rows?.summary ?? null,
    settings: { ...settings, recipe: undefined },
    bought: async (batch) => (rows ? rows.bought(batch) : batch),
    update: async (runId) =>
      into.update
        ? updateExisting(context, connector, plan, {
            ...shared,
            runId,
            highAtomic: costOf(plan, 'updates'),
            mostAtomic: leftAtomic,
          })
        : undefined,
  }
}

/** Returns why records wait for a run of lookups, in words. */
export function waitsText(runId: string, what: string): string {
  return `lookups of ${what} wait: \`paydirt runs ${runId}\` names the reasons`
}

function atLeastZero(amount: Atomic): Atomic {
  return amount > 0n ? amount : 0n
}

/** Returns the most that a part of the plan may spend. */
function costOf({ document }: Plan, part: 'enrichment' | 'updates'): Atomic {
  const planned = document[part] as PlannedLookups | null | undefined
  return planned ? parseUsd(planned.uncapped.high) : 0n
}
