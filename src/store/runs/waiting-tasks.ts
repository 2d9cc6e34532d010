import { sql } from 'kysely'
import { errorCode } from '../../domain/error-codes.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import { rowForms } from '../database/row-forms.ts'

/** A waiting task, with everything that planning its next step needs. */
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
  /** Absent for a task that an older version made. */
  closed?: ClosedFields | undefined
}

export interface TaskMove {
  id: bigint
  status: TaskStatus
  waitingFor: LookupKey | null
  steps: LookupKey[]
  patch: Patch | null
  reason: string | null
}

export interface Overlooked {
  ended: LookupKey[]
  late: LateLookup[]
  next?: LookupKey | undefined
}

/** A parked lookup, alone or in a batch, that a task waits for as if it were under way. */
export interface LateLookup {
  key: LookupKey
  /** True where its operation is stopped. */
  isStopped: boolean
  reason: string
}

/** Tasks that wait for a lookup, and their next step once it has ended. */
export interface WaitingTasks {
  /** Returns up to `limit` tasks that wait for one of these lookups. */
  waitingFor(keys: LookupKey[], limit: number): Promise<WaitingTask[]>
  /**
   * Returns lookups that have ended and that tasks still wait for, because a process died between the answer and the next
   * step; and parked ones that tasks wait for as if they were under way. Examines up to `limit` awaited lookups after this key,
   * in the order of their keys. `next` is the key to continue after; undefined at the end.
   */
  overlooked(after: string, limit: number): Promise<Overlooked>
  /**
   * Parks the tasks that wait for parked lookups as if these were under way. Such a task came to wait in the moment in which
   * its lookup was parked: planned before, and stored after. Left alone, its run would never end.
   */
  parkLate(keys: LookupKey[]): Promise<void>
  move(moves: TaskMove[]): Promise<void>
}

export function createWaitingTasks(db: Database, { now }: { now: () => Date }): WaitingTasks {
  return {
    async waitingFor(keys, limit) {
      if (keys.length === 0) return []
      const { rows } = await sql<WaitingRow>`
        select tasks.id, run_id, runs.connector, runs.entity, object, recipe, trigger, identity, waiting_for, steps, tasks.closed,
          runs.closed as run_closed
        from tasks join runs on runs.id = run_id
        where ${isOneOf('waiting_for', keys)} and tasks.status in ('looking_up', 'parked') limit ${limit}`.execute(
        db,
      )
      return rows.map(toWaiting)
    },

    async overlooked(after, limit) {
      // The database leaves out what still waits, all but a few of a hundred thousand, except for the last of the page.
      const { rows } = await sql<{
        key: LookupKey
        ended: boolean
        late: boolean
        code: string | null
        reason: string
        examined: number
      }>`
        select key, ended, late, code, reason, examined from (
          select awaited.key, coalesce(asked.state in ('answered', 'failed'), false) as ended, held.code,
            coalesce(held.reason, 'its lookup is parked') as reason,
            coalesce(held.state = 'parked' and held.due_at > ${now()}, false) and exists (
              select from tasks where waiting_for = awaited.key and status = 'looking_up') as late,
            row_number() over (order by awaited.key)::int as place, count(*) over ()::int as examined
          from (
            select distinct waiting_for as key from tasks where waiting_for > ${after} order by waiting_for limit ${limit}
          ) as awaited
            left join lookups as asked on asked.key = awaited.key
            left join lookups as held on held.key = coalesce(asked.bundle_key, asked.key)
        ) as page
        where ended or late or place = examined order by key`.execute(db)
      const last = rows.at(-1)
      return {
        ended: rows.filter(({ ended }) => ended).map(({ key }) => key),
        late: rows
          .filter(({ ended, late }) => late && !ended)
          .map(({ key, code, reason }) => ({ key, isStopped: code === errorCode.operationStopped, reason })),
        next: last?.examined === limit ? last.key : undefined,
      }
    },

    async parkLate(keys) {
      if (keys.length === 0) return
      // The lock keeps the order to go on from coming in between: it makes the lookups due before the tasks.
      await sql`
        with held as (
          select asked.key, held.reason from lookups as asked join lookups as held on held.key = coalesce(asked.bundle_key, asked.key)
          where asked.key = any(${keys}::text[]) and held.state = 'parked' and held.due_at > ${now()}
          order by held.key collate "C" for share of held
        )
        update tasks set status = 'parked', reason = held.reason, updated_at = ${now()}
        from held where waiting_for = held.key and status = 'looking_up'`.execute(db)
    },

    async move(moves) {
      const forms = rowForms(db)
      for (const page of pages(moves, 500)) {
        const rows = JSON.stringify(
          page.map((task) => ({
            id: String(task.id),
            status: task.status,
            waiting_for: task.waitingFor,
            steps: task.steps,
            patch: forms.patch(task.patch),
            reason: task.reason,
          })),
        )
        // Only a task that still waits is moved, so two processes that advance the same task do not undo each other's step.
        await sql`
          update tasks set status = moved.status, waiting_for = moved.waiting_for, patch = moved.patch, reason = moved.reason,
            steps = array(select jsonb_array_elements_text(moved.steps)), updated_at = ${now()}
          from jsonb_to_recordset(${rows}::jsonb)
            as moved (id bigint, status text, waiting_for text, steps jsonb, patch jsonb, reason text)
          where tasks.id = any(${page.map(({ id }) => String(id))}::bigint[]) and tasks.id = moved.id and tasks.status in ('queued', 'looking_up', 'parked')`.execute(
          db,
        )
      }
    },
  }
}

interface WaitingRow {
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
  closed: ClosedFields | null
  run_closed: ClosedFields | null
}

function toWaiting(row: WaitingRow): WaitingTask {
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
    closed: joinClosed(row.run_closed, row.closed),
  }
}

/** Returns the closed fields of a record: those of all records of its run, and its own. */
export function joinClosed(
  ofRun: ClosedFields | null,
  ofTask: ClosedFields | null,
): ClosedFields | undefined {
  return ofRun || ofTask ? { ...ofTask, ...ofRun } : undefined
}
