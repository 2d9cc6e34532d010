import type { Connector } from '../../../connectors/connector.ts'
import type { Atomic } from '../../../domain/money.ts'
import { existingRows } from '../../../store/lists/bought/existing-rows.ts'
import { runByFingerprint } from '../../../store/lists/bought/bought-values.ts'
import type { Plan } from '../../../store/plans/plans.ts'
import { allowWithinPlan } from '../../../store/runs/plan-cap.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import { prepareStart } from '../../runs/preflight.ts'
import type { Progress } from '../../runs/run-progress.ts'
import { runToEnd, type RunEnd } from '../../runs/run-to-end.ts'
import { summarise, type RunSummary } from '../../runs/summary.ts'
import { rowsRun } from './enrich-rows.ts'
import { existingRecords } from './existing-records.ts'
import { firstUpdatePlace } from './places.ts'

export interface UpdateExistingOptions {
  list: string
  recipe: string
  /** The run that makes the records of the plan. */
  runId: string
  /** The most that these updates may cost, by the plan. */
  highAtomic: Atomic
  /** The most that this call may spend. Absent: the same. */
  mostAtomic?: Atomic | undefined
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

export interface UpdatedExisting {
  end: RunEnd
  summary: RunSummary
}

/** Returns the records of a plan that exist, as a source. Before its run they are those that the plan names. */
export function existingOf(
  { database, suppressions }: Pick<Context, 'database' | 'suppressions'>,
  connector: Connector,
  { id: planId, entity }: Pick<Plan, 'id' | 'entity'>,
  runId: string | null,
): Connector {
  const place = { planId, runId, entity, firstPlace: firstUpdatePlace }
  return existingRecords(connector, suppressions, (after, limit) =>
    existingRows(database.db, place, after, limit),
  )
}

/**
 * Enriches the records that rows of a plan were found to be, in a run of its own: by the ordinary way of every write, so that field
 * policy, stamps, suppression and undo are those of a sync. Called when everything that is to be made is made, because a row may be
 * found to exist until then. Interrupted or parked, the same call continues; once finished it is not repeated.
 */
export async function updateExisting(
  context: Context,
  target: Connector,
  plan: Plan,
  { list, recipe, runId, highAtomic, mostAtomic, signal, onProgress, onNotice }: UpdateExistingOptions,
): Promise<UpdatedExisting | undefined> {
  const { db } = context.database
  const connector = existingOf(context, target, plan, runId)
  const judged = rowsRun(plan, list, recipe, connector)
  const fingerprint = `list updates|${plan.id}`
  const before = await runByFingerprint(db, fingerprint)
  const known = before && (await context.runs.get(before.id))
  if (known?.state === 'finished') return { end: 'finished', summary: await summarise(context, known) }
  if (!known && !(await hasRecords(connector, plan.entity))) return undefined
  const prepared = await prepareStart(context, connector, judged, onNotice)
  const { run } = await context.runs.open({ id: newRunId(context), ...judged, trigger: 'list', fingerprint })
  await allowWithinPlan(db, run.id, { highAtomic, mostAtomic })
  const end = await runToEnd(context, { prepared, run, connector, signal, onProgress, onNotice })
  return { end, summary: await summarise(context, run) }
}

async function hasRecords(connector: Connector, entity: string): Promise<boolean> {
  for await (const { records } of connector.scan(entity, {})) return records.length > 0
  return false
}
