import { sql, type RawBuilder } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { pages } from '../database/parameters.ts'
import { rowForms } from '../database/row-forms.ts'
import type { Connected } from '../packed/ledger-adapter.ts'

export interface ReadyTask {
  id: bigint
  runId: string
  /** The trigger of its run. Absent in a plan. */
  trigger?: string | undefined
  recordId: string
  identity: Identity
  /** The lookups from which the patch was made, oldest first. */
  steps: LookupKey[]
  patch: Patch
  /** The reason why the steps ended before everything wanted was known. */
  reason: string | null
}

export interface TaskResult {
  id: bigint
  status: TaskStatus
  patch: Patch | null
  /** The fields of the patch that replaced a value. */
  replaced?: readonly string[] | undefined
  /** Employer, title or both, where they differ from the record's. */
  jobChange?: readonly string[] | undefined
  reason: string | null
}

/** The tasks of one connector and entity that are ready to be written, counted. */
interface ReadyState {
  /** Tasks that no person waits for. */
  count: number
  /** Since when the oldest of them is ready; undefined when there is none. */
  since: Date | undefined
  /** Tasks that a person waits for. */
  hot: number
  /** Further tasks may become ready: records are still being read or looked up. */
  moreToCome: boolean
}

/** Tasks whose patch is ready to be written into the CRM. */
export interface ReadyTasks {
  readyState(connector: string, entity: string): Promise<ReadyState>
  /** Returns up to `limit` ready tasks, the oldest first: those that a person waits for, or the others. */
  ready(connector: string, entity: string, options: { hot: boolean; limit: number }): Promise<ReadyTask[]>
  readyGroups(): Promise<{ connector: string; entity: string }[]>
  finish(results: readonly TaskResult[]): Promise<void>
}

export function createReadyTasks(db: Database, { now }: { now: () => Date }): ReadyTasks {
  return {
    async readyState(connector, entity) {
      // A count of index entries, and one probe for each unfinished run.
      const { rows } = await sql<{ count: number; since: Date | null; hot: number; more: boolean }>`
        with open as (
          select id, trigger, state, scanned_at from runs
          where connector = ${connector} and entity = ${entity} and finished_at is null
        )
        select count(*) filter (where trigger <> 'button')::int as count,
          min(updated_at) filter (where trigger <> 'button') as since,
          count(*) filter (where trigger = 'button')::int as hot,
          exists (select from open where state = 'scanning' and scanned_at is null
            or state in ('scanning', 'working') and ${leastStatus(sql`open.id`)} = 'looking_up') as more
        from open join tasks on tasks.run_id = open.id and tasks.status = 'ready'`.execute(db)
      const { count = 0, since = null, hot = 0, more = false } = rows[0] ?? {}
      return { count, since: since ?? undefined, hot, moreToCome: more }
    },

    async ready(connector, entity, { hot, limit }) {
      const rows = await db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .select([
          'tasks.id',
          'tasks.run_id',
          'trigger',
          'record_id',
          'identity',
          'steps',
          'patch',
          'tasks.reason',
        ])
        .where('tasks.status', '=', 'ready')
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where('trigger', hot ? '=' : '<>', 'button')
        .orderBy('tasks.updated_at')
        .orderBy('tasks.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        runId: row.run_id,
        trigger: row.trigger,
        recordId: row.record_id,
        identity: row.identity,
        steps: row.steps,
        patch: row.patch ?? {},
        reason: row.reason,
      }))
    },

    async readyGroups() {
      // One index probe for each unfinished run, however many tasks it has.
      const { rows } = await sql<{ connector: string; entity: string }>`
        select distinct connector, entity from runs
        where finished_at is null and exists (select from tasks where run_id = runs.id and status = 'ready')`.execute(
        db,
      )
      return rows
    },

    finish: (results) => finishTasks(db, results, now()),
  }
}

const openStatuses = ['looking_up', 'parked', 'queued', 'ready'] as const

/**
 * The first of a run's open statuses in alphabetical order, which is that of the index `tasks_open`; null when no task has one
 * of them. With `exists` and one status, Postgres expects to meet such a task wherever it begins to read, and reads the whole
 * table for a run that has none. The order leaves it the index alone, however old its statistics are.
 */
export function leastStatus(
  runId: RawBuilder<unknown>,
  among: readonly (typeof openStatuses)[number][] = openStatuses,
): RawBuilder<TaskStatus | null> {
  return sql`(select status from tasks where run_id = ${runId} and status in (${sql.join(among.map((status) => sql.lit(status)))})
    order by status limit 1)`
}

/** Ends ready tasks. A task that another process has ended stays as it is. */
export async function finishTasks(db: Database, results: readonly TaskResult[], at: Date): Promise<void> {
  for (const page of pages(results, 500)) await finishStatement(db, page, at).execute(db)
}

export function finishStatement(
  db: Connected,
  results: readonly TaskResult[],
  at: Date,
): RawBuilder<unknown> {
  const forms = rowForms(db)
  const rows = JSON.stringify(
    results.map(({ id, status, patch, replaced, jobChange, reason }) => ({
      id: String(id),
      status,
      patch: forms.patch(patch),
      replaced: replaced ?? [],
      job_change: jobChange ?? [],
      reason,
    })),
  )
  return sql`
    update tasks set status = done.status, patch = done.patch, reason = done.reason, updated_at = ${at}, open_intents = null,
      replaced = array(select jsonb_array_elements_text(done.replaced)),
      job_change = array(select jsonb_array_elements_text(done.job_change))
    from jsonb_to_recordset(${rows}::jsonb)
      as done (id bigint, status text, patch jsonb, replaced jsonb, job_change jsonb, reason text)
    where tasks.id = done.id and tasks.status = 'ready'`
}
