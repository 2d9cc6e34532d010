import { sql } from 'kysely'
import type { Patch } from '../../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'

export interface RecordTask {
  run: string
  entity: string
  status: TaskStatus
  reason: string | null
  at: Date
  /** The name of the file that the run read; null for a CRM. */
  file: string | null
  /** What the task was to write; null where nothing was. */
  patch: Patch | null
}

/** Returns the tasks of a record under each of its ids, oldest first. A run that was only planned made none. */
export async function tasksOfRecord(
  db: Database,
  record: { connector: string; ids: readonly string[] } & (
    { object: ObjectKind } | { entities: readonly string[] }
  ),
): Promise<RecordTask[]> {
  return db
    .selectFrom('tasks')
    .innerJoin('runs', 'runs.id', 'tasks.run_id')
    .select(['run_id as run', 'entity', 'status', 'reason', 'updated_at as at', 'patch'])
    .select(sql<string | null>`source->>'file'`.as('file'))
    .where(isOneOf('record_id', record.ids))
    .where('connector', '=', record.connector)
    .where('state', '!=', 'planned')
    .where('object' in record ? (eb) => eb('object', '=', record.object) : isOneOf('entity', record.entities))
    .orderBy('tasks.id')
    .execute()
}

/** Returns how many tasks of a run ended with this reason. */
export async function countWithReason(db: Database, runId: string, reason: string): Promise<number> {
  const { count } = await db
    .selectFrom('tasks')
    .select((eb) => eb.cast<number>(eb.fn.countAll(), 'integer').as('count'))
    .where('run_id', '=', runId)
    .where('reason', '=', reason)
    .executeTakeFirstOrThrow()
  return count
}
