import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import { recordIdentities } from '../../../domain/subjects/record-identities.ts'
import type { FieldValue, Identity, Patch } from '../../../domain/record.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import { boughtRows, runByFingerprint } from '../../../store/lists/bought/bought-values.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import { allowWithinPlan, committedBy } from '../../../store/runs/plan-cap.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import { drifted } from '../../runs/apply-plan.ts'
import type { JudgedRun } from '../../runs/left-out.ts'
import { prepareStart } from '../../runs/preflight.ts'
import type { Progress } from '../../runs/run-progress.ts'
import { runToEnd, type RunEnd } from '../../runs/run-to-end.ts'
import { summarise, type RunSummary } from '../../runs/summary.ts'
import type { Run } from '../../../store/runs/runs.ts'
import { firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import { counted } from '../../../domain/values/counted.ts'
import { formatUsd, type Atomic } from '../../../domain/money.ts'
import type { ListSettings } from '../../config/lists.ts'
import { leftRows } from './left-rows.ts'
import { measureRows } from './measure-rows.ts'
import { rowsConnector, type RowsSource } from './rows-connector.ts'

export interface EnrichRowsOptions {
  list: string
  settings: ListSettings
  recipe: string
  /** The most that the lookups may cost, by the plan. */
  highAtomic: Atomic
  /** The most that this call may spend. Absent: the same. */
  mostAtomic?: Atomic | undefined
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

/** The rows of a plan after the lookups that the list's recipe has for them. */
export interface EnrichedRows {
  summary: RunSummary
  end: RunEnd
  /** The amount that this call has spent. */
  spentAtomic: Atomic
  /** Returns those of the rows whose lookups have ended, with what was bought for them. */
  bought(rows: readonly PlannedRow[]): Promise<PlannedRow[]>
}

/**
 * Buys what the recipe of a list wants of each row of its plan that is to become a record. The same call continues a run that was
 * interrupted or parked; one that has finished is not repeated, however old its answers are.
 *
 * Crash windows, beside those of each lookup (docs/decisions/0002-crash-windows.md):
 * - The run is not opened: nothing was bought, and the plan's cost is compared again.
 * - The run is open: its tasks and charges are in the ledger, its cap is that of the plan, and the same run goes on. No other process
 *   ends its tasks, because no worker has its source.
 * - The run has finished and no record is made: the tasks hold what was bought, and the records are made with it.
 */
export async function enrichRows(
  context: Context,
  target: Connector & { maker: RecordMaker },
  plan: Plan,
  { list, settings, recipe, highAtomic, mostAtomic, signal, onProgress, onNotice }: EnrichRowsOptions,
): Promise<EnrichedRows> {
  const { db } = context.database
  const source: RowsSource = {
    planId: plan.id,
    planned: createPlannedRows(db),
    before: firstCompanyPlace,
  }
  const planned = rowsConnector(target, plan.entity, source)
  // Time has passed since the plan: nothing is bought for a row of which no record is made any more.
  const left = leftRows(context, target, plan, settings)
  const connector = rowsConnector(target, plan.entity, { ...source, left })
  const judged = rowsRun(plan, list, recipe, connector)
  const fingerprint = `list rows|${plan.id}`
  const found = await runByFingerprint(db, fingerprint)
  const before = found && (await context.runs.get(found.id))
  const enriched = async (run: Run, end: RunEnd, earlier: Atomic): Promise<EnrichedRows> => ({
    end,
    spentAtomic: (await committedBy(db, run.id)) - earlier,
    summary: await summarise(context, run),
    bought: (rows) => withBought(context, run.id, plan.object, rows),
  })
  if (before?.state === 'finished') return enriched(before, 'finished', await committedBy(db, before.id))
  if (!before) refuseMore(plan, (await measureRows(context, planned, judged)).lookups.toBuy)
  const prepared = await prepareStart(context, connector, judged, onNotice)
  const { run } = await context.runs.open({ id: newRunId(context), ...judged, trigger: 'list', fingerprint })
  await allowWithinPlan(db, run.id, { highAtomic, mostAtomic })
  const earlier = await committedBy(db, run.id)
  const end = await runToEnd(context, { prepared, run, connector, signal, onProgress, onNotice })
  return enriched(run, end, earlier)
}

export function rowsRun(
  { id, object, entity }: Pick<Plan, 'id' | 'object' | 'entity'>,
  list: string,
  recipe: string,
  connector: Connector,
): JudgedRun {
  return { connector: connector.name, object, entity, recipe, source: { plan: id, list, entity } }
}

/** Throws ConfigError `plan_drifted` where more would have to be bought than was planned. */
function refuseMore(plan: Plan, toBuy: number): void {
  if (toBuy <= plan.toBuy) return
  throw drifted(
    plan,
    `${counted(toBuy, 'lookup')} would have to be bought now for its rows, and ${plan.toBuy} ${plan.toBuy === 1 ? 'was' : 'were'} planned (at most ${formatUsd(plan.highAtomic)} USD)`,
  )
}

async function withBought(
  { database, config }: Context,
  runId: string,
  object: ObjectKind,
  rows: readonly PlannedRow[],
): Promise<PlannedRow[]> {
  const byPlace = await boughtRows(
    database.db,
    runId,
    rows.map(({ ordinal }) => ordinal),
  )
  return rows.flatMap((row) => {
    const found = byPlace.get(row.ordinal)
    if (!found?.isDone) return []
    const known = withValues(object, row, found.patch, config.networkHosts)
    return [found.isSuppressed ? { ...known, isSuppressed: true } : known]
  })
}

/** Returns the row with further values: it is compared by what they name too, such as a revealed e-mail. */
function withValues(object: ObjectKind, row: PlannedRow, patch: Patch, hosts: readonly string[]): PlannedRow {
  const set = Object.entries(patch).flatMap(([field, change]): [string, FieldValue][] =>
    'set' in change ? [[field, change.set]] : [],
  )
  if (set.length === 0) return row
  const values = { ...row.values, ...Object.fromEntries(set) }
  const text = (field: string) => (values[field] === undefined ? undefined : String(values[field]))
  const [email, phone] = [row.identity.email ?? text('email'), row.identity.phone ?? text('phone')]
  const identity: Identity =
    object === 'person'
      ? {
          ...row.identity,
          ...(email === undefined ? {} : { email }),
          ...(phone === undefined ? {} : { phone }),
        }
      : row.identity
  const identities = [...row.identities, ...recordIdentities({ object, identity, values }, { hosts })]
  const distinct = new Map(identities.map((each) => [`${each.kind}|${each.value}`, each]))
  return { ...row, values, identity, identities: [...distinct.values()] }
}
