import { sql, type RawBuilder } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import type { ObjectKind, TaskKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import { scheduleOfRun } from './desk-runs.ts'

export interface RecordTask {
  task: bigint
  run: string
  connector: string
  entity: string
  identity: Identity
  kind: TaskKind
  status: TaskStatus
  reason: string | null
  at: Date
  file: string | null
  schedule: string | null
  /** The values that the task was to write; null where nothing was. */
  patch: Patch | null
  /** The lookups that were made or waited for, in their order. */
  steps: LookupKey[]
  /** The fields for which nothing was bought, and why; null where that is not known. */
  closed: ClosedFields | null
}

/** A record by its ids, the earlier ones of merged records included, and by our object or the connector's own names. */
export type NamedRecord = { connector: string; ids: readonly string[] } & (
  { object: ObjectKind } | { entities: readonly string[] }
)

/** True for the tasks of a record, in a query of `tasks` and `runs`. A run that was only planned made none. */
export function isRecord(record: NamedRecord): RawBuilder<boolean> {
  const object =
    'object' in record ? sql`runs.object = ${record.object}` : isOneOf('runs.entity', record.entities)
  return sql<boolean>`(${isOneOf('tasks.record_id', record.ids)} and runs.connector = ${record.connector}
    and runs.state <> 'planned' and ${object})`
}

/** Returns the tasks of a record under each of its ids, oldest first. */
export async function tasksOfRecord(db: Database, record: NamedRecord): Promise<RecordTask[]> {
  return db
    .selectFrom('tasks')
    .innerJoin('runs', 'runs.id', 'tasks.run_id')
    .select([
      'tasks.id as task',
      'run_id as run',
      'connector',
      'entity',
      'identity',
      'tasks.kind',
      'status',
      'reason',
      'patch',
      'steps',
    ])
    .select(sql<ClosedFields | null>`tasks.closed`.as('closed'))
    .select(['updated_at as at', sql<string | null>`source->>'file'`.as('file')])
    .select(scheduleOfRun.as('schedule'))
    .where(isRecord(record))
    .orderBy('tasks.id')
    .execute()
}

/** Returns what these records of a run were known by as it read them, by record. */
export async function identitiesIn(
  db: Database,
  runId: string,
  records: readonly string[],
): Promise<Map<string, Identity>> {
  if (records.length === 0) return new Map()
  const rows = await db
    .selectFrom('tasks')
    .select(['record_id', 'identity'])
    .where('run_id', '=', runId)
    .where(isOneOf('record_id', records))
    .orderBy('id')
    .execute()
  return new Map(rows.map((row) => [row.record_id, row.identity]))
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
