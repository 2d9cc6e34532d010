import { sql } from 'kysely'
import type { ClosedReason } from '../../domain/planning/could-write.ts'
import type { Patch } from '../../domain/record.ts'
import { freeOperations } from '../../domain/operations.ts'
import { openTaskStatuses, type TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

interface TaskRow {
  ordinal: number
  recordId: string
  status: TaskStatus
  /** The record whose lookup also serves this one. */
  duplicateOf: string | null
  patch: Patch | null
  reason: string | null
  updatedAt: Date
}

/** A field of the recipe that so many records of a run had already, or in which it could not be written, and why. */
export interface LeftOutField {
  field: string
  why: ClosedReason
  records: number
}

export interface WorkUnderWay {
  /** The work on records that are looked up, in records: one of which half of the steps are answered is half a record. */
  records: number
  /** Lookups that this run has paid for. */
  bought: number
}

/** The progress of a run's tasks. */
export interface TaskProgress {
  /** Returns up to `limit` tasks after this place in the run. */
  page(runId: string, afterOrdinal: number, limit: number): Promise<TaskRow[]>
  counts(runId: string): Promise<Record<TaskStatus, number>>
  /** Returns why tasks did not end as written, the most frequent reason first, each with the id of its first record. */
  reasons(runId: string): Promise<{ status: TaskStatus; reason: string; count: number; first: string }[]>
  /** Returns for which fields nothing was bought because nothing could be written, and for how many records, most first. */
  leftOut(runId: string): Promise<LeftOutField[]>
  hasOpen(runId: string): Promise<boolean>
  /** Returns how much of the run's work is done that no final record shows yet, for a recipe of so many steps. */
  underWay(runId: string, recipeSteps: number): Promise<WorkUnderWay>
  lastOrdinal(runId: string): Promise<number>
}

export function createTaskProgress(db: Database): TaskProgress {
  return {
    async page(runId, afterOrdinal, limit) {
      const rows = await db
        .selectFrom('tasks')
        .leftJoin('tasks as first', (join) =>
          join.onRef('first.run_id', '=', 'tasks.run_id').onRef('first.ordinal', '=', 'tasks.duplicate_of'),
        )
        .select([
          'tasks.ordinal',
          'tasks.record_id',
          'tasks.status',
          'tasks.patch',
          'tasks.reason',
          'tasks.updated_at',
        ])
        .select('first.record_id as duplicate_of')
        .where('tasks.run_id', '=', runId)
        .where('tasks.ordinal', '>', afterOrdinal)
        .orderBy('tasks.ordinal')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        ordinal: row.ordinal,
        recordId: row.record_id,
        status: row.status,
        duplicateOf: row.duplicate_of,
        patch: row.patch,
        reason: row.reason,
        updatedAt: row.updated_at,
      }))
    },

    async counts(runId) {
      const rows = await db
        .selectFrom('tasks')
        .select((eb) => ['status', eb.cast<number>(eb.fn.countAll(), 'integer').as('count')])
        .where('run_id', '=', runId)
        .groupBy('status')
        .execute()
      const counts = {
        queued: 0,
        looking_up: 0,
        ready: 0,
        written: 0,
        unchanged: 0,
        skipped: 0,
        rejected: 0,
        parked: 0,
      }
      for (const row of rows) counts[row.status] = row.count
      return counts
    },

    async reasons(runId) {
      // A written record is worth a word where a value of the answer was not.
      const { rows } = await sql<{ status: TaskStatus; reason: string; count: number; first: string }>`
        select grouped.status, grouped.reason, grouped.count, tasks.record_id as first from (
          select status, reason, count(*)::int as count, min(ordinal) as ordinal from tasks
          where run_id = ${runId} and reason is not null and (status != 'written' or reason like '%left out%')
          group by status, reason order by count desc, min(ordinal) limit 20
        ) as grouped join tasks on tasks.run_id = ${runId} and tasks.ordinal = grouped.ordinal
        order by grouped.count desc, grouped.ordinal`.execute(db)
      return rows
    },

    async leftOut(runId) {
      // Most records leave out the same fields, so each set of them is taken apart once. Taken apart for each of a million records,
      // they left PGlite with 270 MB that it never gives back.
      const { rows } = await sql<LeftOutField>`
        select field, why, sum(records)::int as records from (
          select closed.key as field, closed.value as why, records from (
            select closed, count(*) as records from tasks where run_id = ${runId} and closed is not null group by closed
          ) as alike, jsonb_each_text(alike.closed) as closed
          union all
          select closed.key, closed.value, (
            select count(*) from tasks where run_id = ${runId} and status not in ('skipped', 'rejected')
          ) from runs, jsonb_each_text(runs.closed) as closed where runs.id = ${runId}
        ) as each group by field, why having sum(records) > 0 order by records desc, field`.execute(db)
      return rows
    },

    async underWay(runId, recipeSteps) {
      const { rows } = await sql<WorkUnderWay>`
        select (select count(*)::int from charge_shares where run_id = ${runId} and state = 'settled'
            and operation not in (${sql.join([...freeOperations])})) as bought,
          (select coalesce(sum(least(1, case status when 'ready' then 1 else cardinality(steps)::float8 / ${Math.max(1, recipeSteps)}::int end)), 0)
            from tasks where run_id = ${runId} and status in ('looking_up', 'ready'))::float8 as records`.execute(
        db,
      )
      return rows[0] ?? { records: 0, bought: 0 }
    },

    async hasOpen(runId) {
      const row = await db
        .selectFrom('tasks')
        .select('id')
        .where('run_id', '=', runId)
        .where('status', 'in', [...openTaskStatuses])
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async lastOrdinal(runId) {
      const row = await db
        .selectFrom('tasks')
        .select((eb) => eb.fn.max('ordinal').as('ordinal'))
        .where('run_id', '=', runId)
        .executeTakeFirst()
      return row?.ordinal ?? 0
    },
  }
}
