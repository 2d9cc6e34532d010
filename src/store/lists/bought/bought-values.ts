import { sql } from 'kysely'
import type { Patch } from '../../../domain/record.ts'
import { openTaskStatuses, type TaskStatus } from '../../../domain/words.ts'
import type { Database } from '../../database/database.ts'
import type { RunState } from '../../database/tables/states.ts'

/** The state of a row that is enriched before it becomes a record. */
export interface BoughtRow {
  /** False: its lookups go on, or wait. */
  isDone: boolean
  /** The values that were bought, by field. */
  patch: Patch
  /** An answer has named a suppressed subject: no record is made of the row. */
  isSuppressed: boolean
}

/** Returns the newest run that a fingerprint has, in any state. */
export async function runByFingerprint(
  db: Database,
  fingerprint: string,
): Promise<{ id: string; state: RunState } | undefined> {
  return db
    .selectFrom('runs')
    .select(['id', 'state'])
    .where('fingerprint', '=', fingerprint)
    .where('state', '<>', 'planned')
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns the rows of a plan that a run has tasks for, by their place in the plan. */
export async function boughtRows(
  db: Database,
  runId: string,
  ordinals: readonly number[],
): Promise<Map<number, BoughtRow>> {
  const { rows } = await sql<{
    record_id: string
    status: TaskStatus
    patch: Patch | null
    reason: string | null
  }>`
    select record_id, status, patch, reason from tasks
    where run_id = ${runId} and record_id = any(${ordinals.map(String)}::text[])`.execute(db)
  return new Map(
    rows.map(({ record_id: id, status, patch, reason }) => [
      Number(id),
      {
        isDone: status !== 'parked' && !openTaskStatuses.some((each) => each === status),
        patch: status === 'written' ? (patch ?? {}) : {},
        isSuppressed: status === 'skipped' && reason === 'suppressed',
      },
    ]),
  )
}
