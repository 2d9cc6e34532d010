import { sql } from 'kysely'
import { usdFromCredits } from '../../domain/credits.ts'
import type { Atomic } from '../../domain/money.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Patch } from '../../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** A task as callers see it, with its cost. */
export interface TaskView {
  id: bigint
  runId: string
  connector: string
  object: ObjectKind
  entity: string
  recordId: string
  recipe: string
  trigger: string
  /** The API token that requested its run, and those that requested some of its records afterwards. */
  tokens: string[]
  status: TaskStatus
  reason: string | null
  /** The patch that was written, without what else the lookups found. */
  patch: Patch | null
  /** The fields of the recipe to which nothing could be written: nothing was bought for them. */
  closed: ClosedFields | null
  updatedAt: Date
  /** The settled cost in USD; credits count at their price. */
  costAtomic: Atomic
  currency: 'USD' | 'credit'
}

/** The tokens that may read a run, from a row of `runs`. */
const tokensOf = sql`array_remove(array_append(
  array(select jsonb_array_elements_text(coalesce(source -> 'askers', '[]'))), source ->> 'token'), null)`

export interface TaskViews {
  get(ids: readonly bigint[]): Promise<TaskView[]>
  /** Returns the latest task of a record that has ended, in any run. */
  last(record: { connector: string; entity: string; recordId: string }): Promise<TaskView | undefined>
  /** Returns the part of these tasks that changes while they are worked on. */
  states(ids: readonly bigint[]): Promise<{ id: bigint; status: TaskStatus; reason: string | null }[]>
}

interface Row extends Omit<TaskView, 'costAtomic' | 'currency'> {
  paidAtomic: bigint
  creditAtomic: bigint
}

export function createTaskViews(db: Database): TaskViews {
  async function view(where: ReturnType<typeof sql>): Promise<TaskView[]> {
    // A lookup that several tasks of a run waited for counts as a cost of the first of them. The task of a press is the first of
    // its run, and its person waits: all tasks of the ledger were read to find none before it.
    const { rows } = await sql<Row>`
      select tasks.id, tasks.run_id as "runId", connector, object, entity, record_id as "recordId", recipe, trigger,
        ${tokensOf} as tokens, tasks.status, tasks.reason, patch,
        coalesce(runs.closed || coalesce(tasks.closed, '{}'), tasks.closed) as closed, updated_at as "updatedAt",
        coalesce(cost.paid, 0)::bigint as "paidAtomic", coalesce(cost.credit, 0)::bigint as "creditAtomic"
      from tasks join runs on runs.id = tasks.run_id
      left join lateral (
        select sum(amount_atomic) filter (where currency = 'USD') as paid,
          sum(amount_atomic) filter (where currency = 'credit') as credit
        from charges
        where charges.run_id = tasks.run_id and charges.state = 'settled'
          and (charges.lookup_key = any(tasks.steps) or charges.lookup_key = tasks.waiting_for)
          and (tasks.ordinal = 1 or not exists (select 1 from tasks as earlier where earlier.run_id = tasks.run_id
            and earlier.ordinal < tasks.ordinal and charges.lookup_key = any(earlier.steps)))
      ) as cost on true
      ${where}`.execute(db)
    return rows.map(({ paidAtomic, creditAtomic, ...row }) => ({
      ...row,
      costAtomic: paidAtomic + usdFromCredits(creditAtomic),
      currency: creditAtomic > 0n ? 'credit' : 'USD',
    }))
  }

  return {
    async get(ids) {
      if (ids.length === 0) return []
      return view(sql`where tasks.id = any(${ids.map(String)}::bigint[]) order by tasks.id`)
    },

    async last({ connector, entity, recordId }) {
      const [found] = await view(sql`
        where record_id = ${recordId} and connector = ${connector} and entity = ${entity}
          and tasks.status in ('written', 'unchanged', 'skipped', 'rejected') and runs.state <> 'planned'
        order by updated_at desc, tasks.id desc limit 1`)
      return found
    },

    async states(ids) {
      if (ids.length === 0) return []
      const { rows } = await sql<{ id: bigint; status: TaskStatus; reason: string | null }>`
        select id, status, reason from tasks where id = any(${ids.map(String)}::bigint[])`.execute(db)
      return rows
    },
  }
}
