import { sql } from 'kysely'
import { RetriableError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Identity } from '../../domain/record.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import { createMergedRecords, type MergedRecords } from './merged-records.ts'
import { createReadyTasks, type ReadyTasks } from './ready-tasks.ts'
import { createTaskProgress, type TaskProgress } from './task-progress.ts'
import { createWaitingTasks, type WaitingTasks } from './waiting-tasks.ts'

/** The first step of a task. */
export interface FirstStep {
  identity: Identity
  status: TaskStatus
  lookupKey: LookupKey | null
  duplicateOf: number | null
  waitingFor: LookupKey | null
  reason: string | null
  /** The fields of this record to which nothing could be written, besides those of all records of the run. */
  closed?: ClosedFields | undefined
}

export interface NewTask extends FirstStep {
  ordinal: number
  recordId: string
}

export interface TaskLedger
  extends WaitingTasks, ReadyTasks, TaskProgress, Pick<MergedRecords, 'noteMerges'> {
  /**
   * Stores a page of a scan and moves the run's watermark behind it, in one transaction, so that a page counts as a whole or
   * not at all. Throws RetriableError when another process has stored records of the run in its place.
   */
  insertPage(runId: string, tasks: NewTask[], watermark: string): Promise<void>
  /** Returns the ordinal of the run's first task under each key. */
  firstOrdinals(runId: string, keys: LookupKey[]): Promise<Map<LookupKey, number>>
}

export function createTaskLedger(db: Database, options: { now: () => Date }): TaskLedger {
  return {
    ...createWaitingTasks(db, options),
    ...createReadyTasks(db, options),
    ...createTaskProgress(db),
    noteMerges: createMergedRecords(db, options).noteMerges,

    async insertPage(runId, tasks, watermark) {
      const updatedAt = options.now()
      const stored = db.transaction().execute(async (tx) => {
        // The page goes as one parameter: a list of values is a different statement each time, and slow to parse.
        const rows = tasks.map((task) => ({
          ordinal: task.ordinal,
          record_id: task.recordId,
          ...columnsOfStep(task),
        }))
        await sql`
          insert into tasks (run_id, ordinal, record_id, identity, status, lookup_key, duplicate_of, waiting_for, reason,
            closed, updated_at)
          select ${runId}, page.*, ${updatedAt}::timestamptz from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as page (ordinal int, record_id text, identity jsonb, status text, lookup_key text, duplicate_of int,
              waiting_for text, reason text, closed jsonb)`.execute(tx)
        await tx
          .updateTable('runs')
          .set((eb) => ({ watermark, records: eb('records', '+', tasks.length) }))
          .where('id', '=', runId)
          .execute()
      })
      await stored.catch(unlessReadElsewhere)
    },

    async firstOrdinals(runId, keys) {
      if (keys.length === 0) return new Map()
      const rows = await db
        .selectFrom('tasks')
        .select((eb) => ['lookup_key', eb.fn.min('ordinal').as('ordinal')])
        .where('run_id', '=', runId)
        .where(isOneOf('lookup_key', keys))
        .groupBy('lookup_key')
        .execute()
      return new Map(rows.map((row) => [row.lookup_key as LookupKey, row.ordinal]))
    },
  }
}

/**
 * Two processes may carry out one run at once, as when `apply` is called twice: the page of the one has the places of the
 * other's. Whoever comes second reads on behind what is stored.
 */
function unlessReadElsewhere(error: unknown): never {
  const { code, constraint } = error as { code?: string; constraint?: string }
  if (code !== '23505' || constraint !== 'tasks_run_id_ordinal_key') throw error
  throw new RetriableError('read_elsewhere', 'another process reads the source of this run', {
    retryAfterMs: 1_000,
    countsAsTry: false,
    cause: error,
  })
}

/** Returns the columns of a task in which its first step is stored. */
export function columnsOfStep(task: FirstStep) {
  return {
    identity: task.identity,
    status: task.status,
    lookup_key: task.lookupKey,
    duplicate_of: task.duplicateOf,
    waiting_for: task.waitingFor,
    reason: task.reason,
    closed: task.closed,
  }
}
