import { sql } from 'kysely'
import type { LookupKey } from '../domain/keys.ts'
import type { Identity } from '../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../domain/words.ts'
import type { Database } from './database.ts'

/** Records that somebody asks for now. */
export interface Press {
  /** The run that is made of those that are not being done already. */
  runId: string
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  trigger: string
  source: Record<string, unknown>
  /** Each once. */
  ids: readonly string[]
}

export interface PressedTask {
  taskId: bigint
  recordId: string
  runId: string
  /** False: it was asked for a moment ago, and this is that task. */
  isNew: boolean
}

/** How a task that waits to be begun goes on. */
export interface BegunTask {
  id: bigint
  identity: Identity
  status: TaskStatus
  lookupKey: LookupKey | null
  duplicateOf: number | null
  waitingFor: LookupKey | null
  reason: string | null
}

export interface ButtonLedger {
  /** Makes a run of those records that nobody asked for within `windowMs`. Answers a task for each id, in order. */
  press(press: Press, windowMs: number): Promise<PressedTask[]>
  /** The tasks of a run that nobody has begun. */
  queued(runId: string): Promise<{ id: bigint; ordinal: number; recordId: string }[]>
  begin(tasks: readonly BegunTask[]): Promise<void>
  /** Says on those that are not begun why that is. */
  delay(runId: string, reason: string): Promise<void>
  /** Runs of these connectors with tasks that nobody has begun since `before`. */
  forgotten(connectors: readonly string[], before: Date): Promise<string[]>
}

/** What is asked for by hand or by another system; a scan makes its tasks in another way. */
export const pressTriggers = ['button', 'workflow', 'monitor'] as const

export function createButtonLedger(db: Database, { now }: { now: () => Date }): ButtonLedger {
  return {
    async press(press, windowMs) {
      const at = now()
      const { runId, connector, entity, recipe } = press
      return db.transaction().execute(async (tx) => {
        await tx
          .insertInto('runs')
          .values({
            id: runId,
            connector,
            object: press.object,
            entity,
            recipe,
            trigger: press.trigger,
            // There is nothing to scan: its records are all here.
            state: 'working',
            fingerprint: `${press.trigger}|${runId}`,
            source: JSON.stringify(press.source),
            scanned_at: at,
            started_at: at,
          })
          .execute()
        // In one order for everybody, so that two presses that overlap wait for each other and never both. Whoever waited
        // sees a row that is young.
        const sorted = [...press.ids].sort()
        const { rows: claimed } = await sql<{ record_id: string }>`
          insert into button_tasks (connector, entity, record_id, recipe, asked_at, run_id)
          select ${connector}, ${entity}, record_id, ${recipe}, ${at}::timestamptz, ${runId}
          from jsonb_array_elements_text(${JSON.stringify(sorted)}::jsonb) with ordinality as wanted (record_id, place)
          order by place
          on conflict (connector, entity, record_id, recipe) do update
            set asked_at = excluded.asked_at, run_id = excluded.run_id, task_id = null
            where button_tasks.asked_at <= ${new Date(at.getTime() - windowMs)}
          returning record_id`.execute(tx)
        const isNew = new Set(claimed.map(({ record_id }) => record_id))
        if (isNew.size === 0) await tx.deleteFrom('runs').where('id', '=', runId).execute()
        else await addTasks(press.ids.filter((id) => isNew.has(id)))

        const rows = await tx
          .selectFrom('button_tasks')
          .select(['record_id', 'task_id', 'run_id'])
          .where('connector', '=', connector)
          .where('entity', '=', entity)
          .where('recipe', '=', recipe)
          .where('record_id', 'in', [...press.ids])
          .execute()
        const byId = new Map(rows.map((row) => [row.record_id, row]))
        return press.ids.map((id): PressedTask => {
          const row = byId.get(id)
          if (row?.task_id === null || row === undefined) throw new Error('a claimed record has no task')
          return { taskId: row.task_id, recordId: id, runId: row.run_id, isNew: isNew.has(id) }
        })

        async function addTasks(ids: readonly string[]): Promise<void> {
          const tasks = await tx
            .insertInto('tasks')
            .values(
              ids.map((id, index) => ({
                run_id: runId,
                ordinal: index + 1,
                record_id: id,
                identity: '{}',
                status: 'queued' as const,
                updated_at: at,
              })),
            )
            .returning(['id', 'record_id'])
            .execute()
          const pairs = JSON.stringify(
            tasks.map((task) => ({ id: String(task.id), record_id: task.record_id })),
          )
          await sql`
            update button_tasks set task_id = made.id
            from jsonb_to_recordset(${pairs}::jsonb) as made (id bigint, record_id text)
            where button_tasks.run_id = ${runId} and button_tasks.record_id = made.record_id`.execute(tx)
          await tx.updateTable('runs').set({ records: ids.length }).where('id', '=', runId).execute()
        }
      })
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
          identity: task.identity,
          status: task.status,
          lookup_key: task.lookupKey,
          duplicate_of: task.duplicateOf,
          waiting_for: task.waitingFor,
          reason: task.reason,
        })),
      )
      // Of two processes that begin the same task the second finds it begun.
      await sql`
        update tasks set identity = begun.identity, status = begun.status, lookup_key = begun.lookup_key,
          duplicate_of = begun.duplicate_of, waiting_for = begun.waiting_for, reason = begun.reason, updated_at = ${now()}
        from jsonb_to_recordset(${rows}::jsonb) as begun (id bigint, identity jsonb, status text, lookup_key text,
          duplicate_of int, waiting_for text, reason text)
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

    async forgotten(connectors, before) {
      if (connectors.length === 0) return []
      const rows = await db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .select('runs.id')
        .distinct()
        .where('tasks.status', '=', 'queued')
        .where('tasks.updated_at', '<=', before)
        .where('runs.connector', 'in', [...connectors])
        .where('runs.trigger', 'in', [...pressTriggers])
        .where('runs.state', '!=', 'stopped')
        .limit(50)
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}
