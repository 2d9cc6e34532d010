import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { pages } from '../database/parameters.ts'
import type { Tables } from '../database/schema.ts'

export interface ReadyTask {
  id: bigint
  runId: string
  recordId: string
  identity: Identity
  /** The lookups from which the patch was made, oldest first. */
  steps: LookupKey[]
  patch: Patch
  /** Why the steps ended before everything wanted was known. */
  reason: string | null
  /** True when a person waits for it. */
  hot?: boolean | undefined
}

export interface TaskResult {
  id: bigint
  status: TaskStatus
  patch: Patch | null
  /** The fields of the patch that replaced a value. */
  replaced?: readonly string[] | undefined
  /** Which of employer and title differ from the record's. */
  jobChange?: readonly string[] | undefined
  reason: string | null
}

/** Tasks whose patch is ready to be written into the CRM. */
export interface ReadyTasks {
  /** Returns up to `limit` ready tasks, those that a person waits for first. */
  ready(connector: string, entity: string, limit: number): Promise<ReadyTask[]>
  readyGroups(): Promise<{ connector: string; entity: string }[]>
  finish(results: readonly TaskResult[]): Promise<void>
}

export function createReadyTasks(db: Database, { now }: { now: () => Date }): ReadyTasks {
  return {
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

/** Ends ready tasks. A task that another process has ended stays as it is. */
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
