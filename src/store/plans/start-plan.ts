import { createAuditLog, type AuditedAction } from '../access/audit.ts'
import type { Database } from '../database/database.ts'
import { newRunRow, type Run } from '../runs/runs.ts'
import { capByPlan } from '../runs/plan-cap.ts'
import { insertOccurrence } from '../runs/schedule-occurrences.ts'

export interface PlanStart {
  runId: string
  /** False when the plan had a run before. */
  isNew: boolean
}

/**
 * Opens the run of a plan and asks the schedulers for it. A plan has one run, however often it is started.
 *
 * One transaction claims the plan, opens its run, caps it at the plan's cost, adds the occurrence and notes who did it. Killed
 * before its commit: nothing has begun, and the plan can be started. Killed after it, before the answer: the run is there, a
 * scheduler carries it out, and the next request for the plan returns it. Of two requests at once the second waits for the lock of the plan's row, and finds the
 * run of the first.
 */
export async function startPlannedRun(
  db: Database,
  planId: string,
  run: Pick<Run, 'id' | 'connector' | 'object' | 'entity' | 'recipe' | 'source'> & { limit: number | null },
  by: Pick<AuditedAction, 'actor' | 'role'>,
  { now }: { now: () => Date },
): Promise<PlanStart> {
  return db.transaction().execute(async (tx) => {
    const plan = await tx
      .selectFrom('plans')
      .select(['run_id', 'high_atomic'])
      .where('id', '=', planId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (plan.run_id !== null) return { runId: plan.run_id, isNew: false }
    // The fingerprint of `paydirt apply`: neither begins what the other has begun.
    const fingerprint = `plan|${planId}`
    const opened = await tx
      .insertInto('runs')
      .values(newRunRow({ ...run, trigger: 'request', fingerprint }, now()))
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    const runId = opened?.id ?? (await unfinished(tx, fingerprint))
    await tx.updateTable('plans').set({ run_id: runId }).where('id', '=', planId).execute()
    if (!opened) return { runId, isNew: false }
    await capByPlan(tx, runId, plan.high_atomic)
    await insertOccurrence(
      tx,
      {
        schedule: null,
        connector: run.connector,
        entity: run.entity,
        recipe: run.recipe,
        limit: run.limit,
        refresh: false,
        plan: planId,
        cause: 'request',
        plannedAt: now(),
        startBy: null,
        stopAt: null,
        runId,
      },
      now,
    )
    await createAuditLog(tx, { now }).record({
      ...by,
      action: 'sync.start',
      target: `${run.connector} ${run.entity}`,
      details: { run: runId, plan: planId, recipe: run.recipe, limit: run.limit },
    })
    return { runId, isNew: true }
  })
}

/** `paydirt apply` opens its run before it names it in the plan. */
async function unfinished(tx: Database, fingerprint: string): Promise<string> {
  const { id } = await tx
    .selectFrom('runs')
    .select('id')
    .where('fingerprint', '=', fingerprint)
    .where('state', 'in', ['scanning', 'working', 'stopped', 'parked'])
    .executeTakeFirstOrThrow()
  return id
}
