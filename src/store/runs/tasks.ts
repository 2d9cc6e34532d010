import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import { openTaskStatuses, type ObjectKind, type TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import type { Tables } from '../database/schema.ts'

export interface NewTask {
  ordinal: number
  recordId: string
  identity: Identity
  status: TaskStatus
  lookupKey: LookupKey | null
  duplicateOf: number | null
  waitingFor: LookupKey | null
  reason: string | null
}

/** A task with what planning its next step needs. */
export interface WaitingTask {
  id: bigint
  runId: string
  connector: string
  entity: string
  object: ObjectKind
  recipe: string
  hot: boolean
  identity: Identity
  waitingFor: LookupKey
  steps: LookupKey[]
}

export interface TaskMove {
  id: bigint
  status: TaskStatus
  waitingFor: LookupKey | null
  steps: LookupKey[]
  patch: Patch | null
  reason: string | null
}

export interface ReadyTask {
  id: bigint
  runId: string
  recordId: string
  identity: Identity
  /** The lookups that told what the patch says, in the order in which they were made. */
  steps: LookupKey[]
  patch: Patch
  /** Why no more was found out, where more was wanted. */
  reason: string | null
  /** Somebody waits for it. */
  hot?: boolean
}

export interface TaskResult {
  id: bigint
  status: TaskStatus
  patch: Patch | null
  /** The fields of the patch that took a value's place. */
  replaced?: readonly string[]
  /** Which of employer and title were found to be others than the record's. */
  jobChange?: readonly string[]
  reason: string | null
}

interface TaskRow {
  ordinal: number
  recordId: string
  status: TaskStatus
  /** The record under whose lookup this one is served too. */
  duplicateOf: string | null
  patch: Patch | null
  reason: string | null
  updatedAt: Date
}

export interface TaskLedger {
  /** Stores a page of a scan and moves the run's watermark behind it, in one transaction: a page counts whole or not at all. */
  insertPage(runId: string, tasks: NewTask[], watermark: string): Promise<void>
  /** The first row of the run under each key. */
  firstOrdinals(runId: string, keys: LookupKey[]): Promise<Map<LookupKey, number>>
  waitingFor(keys: LookupKey[], limit: number): Promise<WaitingTask[]>
  /**
   * Lookups that have ended and that tasks still wait for: a process died between the answer and the next step. Looks at up to
   * `limit` awaited lookups after this one, in the order of their keys; `next` is where to go on, absent at the end.
   */
  overlooked(after: string, limit: number): Promise<{ ended: LookupKey[]; next?: LookupKey }>
  move(moves: TaskMove[]): Promise<void>
  /** What somebody waits for stands first. */
  ready(connector: string, entity: string, limit: number): Promise<ReadyTask[]>
  readyGroups(): Promise<{ connector: string; entity: string }[]>
  finish(results: readonly TaskResult[]): Promise<void>
  page(runId: string, afterOrdinal: number, limit: number): Promise<TaskRow[]>
  counts(runId: string): Promise<Record<TaskStatus, number>>
  /** Why tasks did not end as written, most frequent first. */
  reasons(runId: string): Promise<{ status: TaskStatus; reason: string; count: number }[]>
  hasOpen(runId: string): Promise<boolean>
  lastOrdinal(runId: string): Promise<number>
}

export function createTaskLedger(db: Database, options: { now: () => Date }): TaskLedger {
  const { now } = options

  function waiting() {
    return db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select([
        'tasks.id',
        'tasks.run_id',
        'runs.connector',
        'runs.entity',
        'object',
        'recipe',
        'trigger',
        'identity',
        'waiting_for',
        'steps',
      ])
  }

  return {
    async insertPage(runId, tasks, watermark) {
      const updatedAt = now()
      await db.transaction().execute(async (tx) => {
        // One parameter, however long the page is: a list of values is another statement each time, and dear to read.
        const rows = tasks.map((task) => ({
          ordinal: task.ordinal,
          record_id: task.recordId,
          identity: task.identity,
          status: task.status,
          lookup_key: task.lookupKey,
          duplicate_of: task.duplicateOf,
          waiting_for: task.waitingFor,
          reason: task.reason,
        }))
        await sql`
          insert into tasks (run_id, ordinal, record_id, identity, status, lookup_key, duplicate_of, waiting_for, reason,
            updated_at)
          select ${runId}, page.*, ${updatedAt}::timestamptz from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as page (ordinal int, record_id text, identity jsonb, status text, lookup_key text, duplicate_of int,
              waiting_for text, reason text)`.execute(tx)
        await tx
          .updateTable('runs')
          .set((eb) => ({ watermark, records: eb('records', '+', tasks.length) }))
          .where('id', '=', runId)
          .execute()
      })
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

    async waitingFor(keys, limit) {
      if (keys.length === 0) return []
      const rows = await waiting()
        .where(isOneOf('waiting_for', keys))
        .where('tasks.status', 'in', ['looking_up', 'parked'])
        .limit(limit)
        .execute()
      return rows.map(toWaiting)
    },

    async overlooked(after, limit) {
      const { rows } = await sql<{ ended: LookupKey[] | null; last: LookupKey | null; count: number }>`
        select array_agg(key) filter (where state in ('answered', 'failed')) as ended, max(key) as last, count(*)::int as count
        from (
          select key, (select state from lookups where lookups.key = awaited.key) as state from (
            select distinct waiting_for as key from tasks where waiting_for > ${after} order by waiting_for limit ${limit}
          ) as awaited
        ) as looked_at`.execute(db)
      const { ended = null, last = null, count = 0 } = rows[0] ?? {}
      return { ended: ended ?? [], ...(last !== null && count === limit ? { next: last } : {}) }
    },

    async move(moves) {
      for (const page of pages(moves, 500)) {
        const rows = JSON.stringify(
          page.map((task) => ({
            id: String(task.id),
            status: task.status,
            waiting_for: task.waitingFor,
            steps: task.steps,
            patch: task.patch,
            reason: task.reason,
          })),
        )
        // Only a task that still waits is moved: two processes that advance the same one agree on where it goes.
        await sql`
          update tasks set status = moved.status, waiting_for = moved.waiting_for, patch = moved.patch, reason = moved.reason,
            steps = array(select jsonb_array_elements_text(moved.steps)), updated_at = ${now()}
          from jsonb_to_recordset(${rows}::jsonb)
            as moved (id bigint, status text, waiting_for text, steps jsonb, patch jsonb, reason text)
          where tasks.id = moved.id and tasks.status in ('queued', 'looking_up', 'parked')`.execute(db)
      }
    },

    async ready(connector, entity, limit) {
      const rows = await db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .select(['tasks.id', 'tasks.run_id', 'record_id', 'identity', 'steps', 'patch', 'tasks.reason'])
        .select((eb) => eb('trigger', '=', 'button').as('hot'))
        .where('tasks.status', '=', 'ready')
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .orderBy('hot', 'desc')
        .orderBy('tasks.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        runId: row.run_id,
        recordId: row.record_id,
        identity: row.identity,
        steps: row.steps,
        patch: row.patch ?? {},
        reason: row.reason,
        hot: Boolean(row.hot),
      }))
    },

    async readyGroups() {
      // A probe for each run that has not ended, however many tasks it has.
      const { rows } = await sql<{ connector: string; entity: string }>`
        select distinct connector, entity from runs
        where finished_at is null and exists (select from tasks where run_id = runs.id and status = 'ready')`.execute(
        db,
      )
      return rows
    },

    finish: (results) => finishTasks(db, results, now()),

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
      return db
        .selectFrom('tasks')
        .select((eb) => [
          'status',
          eb.ref('reason').$notNull().as('reason'),
          eb.cast<number>(eb.fn.countAll(), 'integer').as('count'),
        ])
        .where('run_id', '=', runId)
        .where('reason', 'is not', null)
        .where('status', '!=', 'written')
        .groupBy(['status', 'reason'])
        .orderBy('count', 'desc')
        .limit(20)
        .execute()
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

/** Only a task that is ready ends: one that another process has ended stays as that one left it. */
export async function finishTasks(
  db: Database | Transaction<Tables>,
  results: readonly TaskResult[],
  at: Date,
): Promise<void> {
  for (const page of pages(results, 500)) {
    const rows = JSON.stringify(
      page.map(({ id, status, patch, replaced, jobChange, reason }) => ({
        id: String(id),
        status,
        patch,
        replaced: replaced ?? [],
        job_change: jobChange ?? [],
        reason,
      })),
    )
    await sql`
      update tasks set status = done.status, patch = done.patch, reason = done.reason, updated_at = ${at},
        replaced = array(select jsonb_array_elements_text(done.replaced)),
        job_change = array(select jsonb_array_elements_text(done.job_change))
      from jsonb_to_recordset(${rows}::jsonb)
        as done (id bigint, status text, patch jsonb, replaced jsonb, job_change jsonb, reason text)
      where tasks.id = done.id and tasks.status = 'ready'`.execute(db)
  }
}

function toWaiting(row: {
  id: bigint
  run_id: string
  connector: string
  entity: string
  object: ObjectKind
  recipe: string
  trigger: string
  identity: Identity
  waiting_for: LookupKey | null
  steps: LookupKey[]
}): WaitingTask {
  return {
    id: row.id,
    runId: row.run_id,
    connector: row.connector,
    entity: row.entity,
    object: row.object,
    recipe: row.recipe,
    hot: row.trigger === 'button',
    identity: row.identity,
    waitingFor: row.waiting_for as LookupKey,
    steps: row.steps,
  }
}
