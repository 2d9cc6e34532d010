import { sql } from 'kysely'
import type { FieldValue, Identity, Patch } from '../../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { ofTasks, withOpenIntents } from '../writes/open-intents.ts'
import { indefinitely, type FieldWriteState, type RunState } from '../database/tables/states.ts'
import { scheduleOfRun } from './desk-runs.ts'

export interface TaskDetail {
  id: bigint
  run: string
  connector: string
  entity: string
  object: ObjectKind
  recipe: string
  trigger: string
  runState: RunState
  runStartedAt: Date
  file: string | null
  schedule: string | null
  ordinal: number
  recordId: string
  identity: Identity
  status: TaskStatus
  reason: string | null
  at: Date
  /** The code that parks its lookup, and when it resumes by itself. */
  code: string | null
  resumesAt: Date | null
  waitingFor: string | null
  /** Its lookups in the order in which they were asked for. */
  lookups: string[]
  /** The task of the same run with the same subject, whose lookups serve this one too. */
  duplicateOf: { id: bigint; recordId: string } | null
  /** The values that the planner wants to write, or has written where the source keeps no values. */
  patch: Patch | null
  previous: bigint | null
  next: bigint | null
}

export interface TaskWrite {
  field: string
  /** null when the field was blank. */
  old: FieldValue | null
  /** null when the subject was forgotten. */
  new: FieldValue | null
  lookup: string | null
  priceAtomic: bigint
  currency: string
  state: FieldWriteState
  code: string | null
  at: Date | null
  undoneAt: Date | null
}

/** Returns a task with its neighbours in the run, or undefined where there is none. */
export async function taskDetail(db: Database, id: bigint): Promise<TaskDetail | undefined> {
  const { rows } = await sql<
    Omit<TaskDetail, 'duplicateOf'> & { firstId: bigint | null; firstRecord: string | null }
  >`
    select tasks.id, tasks.run_id as run, runs.connector, entity, object, recipe, trigger, runs.state as "runState",
      runs.started_at as "runStartedAt", source->>'file' as file, ${scheduleOfRun} as schedule, tasks.ordinal,
      tasks.record_id as "recordId", tasks.identity, tasks.status, coalesce(tasks.reason, held.reason) as reason,
      tasks.updated_at as at,
      case when tasks.status = 'parked' then held.code end as code,
      case when tasks.status = 'parked' then nullif(held.due_at, ${indefinitely}) end as "resumesAt",
      tasks.waiting_for as "waitingFor",
      array_remove(array[tasks.lookup_key] || tasks.steps || tasks.waiting_for, null) as lookups,
      first.id as "firstId", first.record_id as "firstRecord", tasks.patch,
      (select id from tasks as other where other.run_id = tasks.run_id and other.ordinal < tasks.ordinal
        order by other.ordinal desc limit 1) as previous,
      (select id from tasks as other where other.run_id = tasks.run_id and other.ordinal > tasks.ordinal
        order by other.ordinal limit 1) as next
    from tasks join runs on runs.id = tasks.run_id
      left join lookups as asked on asked.key = tasks.waiting_for
      left join lookups as held on held.key = coalesce(asked.bundle_key, asked.key)
      left join tasks as first on first.run_id = tasks.run_id and first.ordinal = tasks.duplicate_of
    where tasks.id = ${id} and runs.state <> 'planned'`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const { firstId, firstRecord, ...task } = row
  return {
    ...task,
    lookups: [...new Set(task.lookups)],
    duplicateOf: firstId === null ? null : { id: firstId, recordId: firstRecord ?? '' },
  }
}

/** Returns what a task wrote, field by field, in the order of writing. */
export async function writesOfTask(db: Database, id: bigint): Promise<TaskWrite[]> {
  const readRows = () =>
    db.selectFrom('field_writes').selectAll().where('task_id', '=', id).orderBy('id').execute()
  const rows = await withOpenIntents(db, ofTasks([id]), readRows)
  return rows.map((row) => ({
    field: row.field,
    old: row.old_value,
    new: row.new_value,
    lookup: row.lookup_key,
    state: row.state,
    code: row.code,
    priceAtomic: row.price_atomic,
    at: row.written_at,
    undoneAt: row.undone_at,
    currency: row.currency ?? 'USD',
  }))
}
