import { sql } from 'kysely'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import { columnsOfStep, type FirstStep } from './tasks.ts'

/** Records that a person or another system asks for now. */
export interface OnDemandRequest {
  /** The run that is made of those records that were not requested a moment ago. */
  runId: string
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  trigger: string
  /** The caller. A `token` in it may read the tasks that it was given, even those that another caller requested first. */
  source: Record<string, unknown>
  /** Each id once. */
  ids: readonly string[]
}

export interface OnDemandTask {
  taskId: bigint
  recordId: string
  /** The place of the task in its run. */
  ordinal: number
  runId: string
  /** False when the record was requested a moment ago and this is the task of that request. */
  isNew: boolean
}

/** The first step of a task that was queued. */
interface BegunTask extends FirstStep {
  id: bigint
}

export interface OnDemandLedger {
  /** Makes a run of the records that were not requested within `windowMs`. Returns a task for each id, in order. */
  openTasks(request: OnDemandRequest, windowMs: number): Promise<OnDemandTask[]>
  /** Returns the tasks of a run that were not begun. */
  queued(runId: string): Promise<{ id: bigint; ordinal: number; recordId: string }[]>
  begin(tasks: readonly BegunTask[]): Promise<void>
  /** Stores a reason on the tasks that were not begun. */
  delay(runId: string, reason: string): Promise<void>
  /** Returns runs of these connectors with tasks that were queued before `before` and not begun since. */
  notBegun(connectors: readonly string[], before: Date): Promise<string[]>
}

/** The triggers of on-demand runs. Their tasks are made here, and not by a scan. */
const onDemandTriggers = ['button', 'workflow', 'monitor'] as const

export function createOnDemandLedger(db: Database, { now }: { now: () => Date }): OnDemandLedger {
  /** A statement of its own: the statement that waited for another request's claims does not see them. */
  async function claimedBefore(
    { connector, entity, recipe }: OnDemandRequest,
    ids: readonly string[],
  ): Promise<OnDemandTask[]> {
    if (ids.length === 0) return []
    const rows = await db
      .selectFrom('button_tasks')
      .innerJoin('tasks', 'tasks.id', 'task_id')
      .select(['button_tasks.record_id', 'tasks.id', 'button_tasks.run_id', 'ordinal'])
      .where('connector', '=', connector)
      .where('entity', '=', entity)
      .where('recipe', '=', recipe)
      .where(isOneOf('button_tasks.record_id', ids))
      .execute()
    return rows.map((row) => ({
      taskId: row.id,
      recordId: row.record_id,
      ordinal: row.ordinal,
      runId: row.run_id,
      isNew: false,
    }))
  }

  async function rememberAsker(token: string, runIds: readonly string[]): Promise<void> {
    await sql`
      update runs set source = jsonb_set(source, '{askers}', coalesce(source -> 'askers', '[]') || to_jsonb(${token}::text))
      where id = any(${[...runIds]}) and source ->> 'token' is distinct from ${token}
        and not coalesce(source -> 'askers', '[]') @> to_jsonb(${token}::text)`.execute(db)
  }

  return {
    async openTasks(request, windowMs) {
      const { runId, ids } = request
      const made = await insertRun(db, request, { windowMs, at: now() })
      const byId = new Map<string, OnDemandTask>(
        made.map((task) => [task.recordId, { ...task, runId, isNew: true }]),
      )
      const before = await claimedBefore(
        request,
        ids.filter((id) => !byId.has(id)),
      )
      const { token } = request.source
      if (typeof token === 'string' && before.length > 0)
        await rememberAsker(token, [...new Set(before.map((task) => task.runId))])
      for (const task of before) byId.set(task.recordId, task)
      return ids.flatMap((id) => byId.get(id) ?? [])
    },

    async queued(runId) {
      const rows = await db
        .selectFrom('tasks')
        .select(['id', 'ordinal', 'record_id'])
        .where('run_id', '=', runId)
        .where('status', '=', 'queued')
        .orderBy('ordinal')
        .execute()
      return rows.map(({ id, ordinal, record_id: recordId }) => ({ id, ordinal, recordId }))
    },

    async begin(tasks) {
      const rows = JSON.stringify(
        tasks.map((task) => ({
          id: String(task.id),
          ...columnsOfStep(task),
        })),
      )
      // When two processes begin the same task, the second changes nothing.
      await sql`
        update tasks set identity = begun.identity, status = begun.status, lookup_key = begun.lookup_key,
          duplicate_of = begun.duplicate_of, waiting_for = begun.waiting_for, reason = begun.reason,
          closed = begun.closed, updated_at = ${now()}
        from jsonb_to_recordset(${rows}::jsonb) as begun (id bigint, identity jsonb, status text, lookup_key text,
          duplicate_of int, waiting_for text, reason text, closed jsonb)
        where tasks.id = begun.id and tasks.status = 'queued'`.execute(db)
    },

    async delay(runId, reason) {
      await db
        .updateTable('tasks')
        .set({ reason, updated_at: now() })
        .where('run_id', '=', runId)
        .where('status', '=', 'queued')
        .execute()
    },

    async notBegun(connectors, before) {
      if (connectors.length === 0) return []
      const rows = await db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .select('runs.id')
        .distinct()
        .where('tasks.status', '=', 'queued')
        .where('tasks.updated_at', '<=', before)
        .where('runs.connector', 'in', [...connectors])
        .where('runs.trigger', 'in', [...onDemandTriggers])
        .where('runs.state', '!=', 'stopped')
        .limit(50)
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}

/**
 * Makes the run, its tasks and its row of the audit log, and returns the tasks. Makes nothing when all records were requested
 * within `windowMs`. One statement stores all of it or nothing, and 200 requests at once are 200 statements. Rows are claimed
 * in the order of their ids, so that two overlapping requests cannot deadlock.
 */
async function insertRun(
  db: Database,
  request: OnDemandRequest,
  { windowMs, at }: { windowMs: number; at: Date },
): Promise<{ recordId: string; taskId: bigint; ordinal: number }[]> {
  const { runId, connector, object, entity, recipe, trigger, ids } = request
  const { actor, role } = askerOf(request)
  const { rows } = await sql<{ recordId: string; taskId: bigint; ordinal: number }>`
    with wanted as (
      select record_id, place, nextval(pg_get_serial_sequence('tasks', 'id')) as task_id
      from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality as given (record_id, place)
    ), claimed as (
      insert into button_tasks (connector, entity, record_id, recipe, asked_at, run_id, task_id)
      select ${connector}, ${entity}, record_id, ${recipe}, ${at}::timestamptz, ${runId}, task_id
      from wanted order by record_id
      on conflict (connector, entity, record_id, recipe) do update
        set asked_at = excluded.asked_at, run_id = excluded.run_id, task_id = excluded.task_id
        where button_tasks.asked_at <= ${new Date(at.getTime() - windowMs)}
      returning record_id, task_id
    ), numbered as (
      select record_id, claimed.task_id, row_number() over (order by place)::int as ordinal
      from claimed join wanted using (record_id)
    ), opened as (
      -- There is nothing to scan: the request names all records.
      insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, records, scanned_at, started_at)
      select ${runId}, ${connector}, ${object}, ${entity}, ${recipe}, ${trigger}, 'working', ${`${trigger}|${runId}`},
        ${JSON.stringify(request.source)}::jsonb, (select count(*) from numbered), ${at}::timestamptz, ${at}::timestamptz
      where exists (select from numbered)
    ), made as (
      insert into tasks (id, run_id, ordinal, record_id, identity, status, updated_at) overriding system value
      select task_id, ${runId}, ordinal, record_id, '{}', 'queued', ${at}::timestamptz from numbered
    ), noted as (
      insert into audit (at, actor, role, action, target, details)
      select ${at}::timestamptz, ${actor}, ${role}, 'enrich', ${runId},
        jsonb_build_object('connector', ${connector}::text, 'entity', ${entity}::text, 'recipe', ${recipe}::text,
          'records', (select count(*) from numbered))
      where exists (select from numbered)
    )
    select record_id as "recordId", task_id as "taskId", ordinal from numbered`.execute(db)
  return rows
}

/** Returns the names for the audit log. A caller's name is that of a system or a token, never of a person. */
function askerOf({ source, trigger }: OnDemandRequest): { actor: string; role: string } {
  if (typeof source['caller'] !== 'string') return { actor: trigger, role: 'none' }
  if (source['caller'] === 'command line') return { actor: 'cli', role: 'shell' }
  return { actor: source['caller'], role: source['token'] === undefined ? 'hook' : 'api' }
}
