import { sql, type Selectable } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { Identity } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'
import { joinClosed } from '../runs/waiting-tasks.ts'

/** The lookups of a planned run, and how many of them the ledger already has. */
export interface PlanFigures {
  unique: number
  cached: number
  duplicates: number
}

/** Counts a planned run's lookups. Those with a fresh answer are `cached` and cost nothing. */
export async function planFigures(db: Database, runId: string, now: Date): Promise<PlanFigures> {
  const { rows } = await sql<PlanFigures>`
    select count(distinct tasks.lookup_key)::int as unique,
      (count(distinct tasks.lookup_key) filter (
        where lookups.state = 'answered' and lookups.fresh_until > ${now}))::int as cached,
      count(duplicate_of)::int as duplicates
    from tasks left join lookups on lookups.key = tasks.lookup_key
    where tasks.run_id = ${runId} and tasks.lookup_key is not null`.execute(db)
  return rows[0] ?? { unique: 0, cached: 0, duplicates: 0 }
}

export interface Plan {
  id: string
  kind: 'csv' | 'sync' | 'list'
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  /** The request, in a form that only its maker reads. */
  job: Record<string, unknown>
  document: Record<string, unknown>
  toBuy: number
  /** The highest price of one lookup. */
  priceAtomic: Atomic
  /** The highest price of all lookups together. */
  highAtomic: Atomic
  /** The run that carries the plan out; null before that. */
  runId: string | null
  madeAt: Date
}

export interface PlannedTask {
  ordinal: number
  recordId: string
  identity: Identity
  lookupKey: LookupKey | null
  closed?: ClosedFields | undefined
}

export interface PlanLedger {
  begin(plan: Omit<Plan, 'document' | 'toBuy' | 'highAtomic' | 'runId' | 'madeAt'>): Promise<void>
  addRecords(planId: string, records: { ordinal: number; recordId: string; digest: string }[]): Promise<void>
  /** Adds to these records the lookup that they wait for, and what would be written. */
  describe(
    planId: string,
    records: { ordinal: number; lookupKey: LookupKey | null; preview: Record<string, unknown> | null }[],
  ): Promise<void>
  finish(planId: string, result: Pick<Plan, 'document' | 'toBuy' | 'highAtomic'>): Promise<void>
  /** Deletes a plan that was not finished. */
  drop(planId: string): Promise<void>
  get(planId: string): Promise<Plan | undefined>
  /** Returns the digests of those of these records that are in the plan. */
  digests(planId: string, recordIds: readonly string[]): Promise<Map<string, string>>
  countRecords(planId: string): Promise<number>
  setRun(planId: string, runId: string): Promise<void>
  /** Returns the tasks of a planned run, in their order. */
  tasks(runId: string, afterOrdinal: number, limit: number): Promise<PlannedTask[]>
}

export function createPlanLedger(db: Database, { now }: { now: () => Date }): PlanLedger {
  return {
    async begin(plan) {
      await db
        .insertInto('plans')
        .values({
          id: plan.id,
          kind: plan.kind,
          connector: plan.connector,
          object: plan.object,
          entity: plan.entity,
          recipe: plan.recipe,
          job: JSON.stringify(plan.job),
          document: '{}',
          to_buy: 0,
          price_atomic: plan.priceAtomic,
          high_atomic: 0n,
          made_at: now(),
        })
        .execute()
    },

    async addRecords(planId, records) {
      if (records.length === 0) return
      await db
        .insertInto('plan_records')
        .values(
          records.map(({ ordinal, recordId, digest }) => ({
            plan_id: planId,
            ordinal,
            record_id: recordId,
            digest,
          })),
        )
        .execute()
    },

    async describe(planId, records) {
      if (records.length === 0) return
      const rows = JSON.stringify(
        records.map(({ ordinal, lookupKey, preview }) => ({ ordinal, lookup_key: lookupKey, preview })),
      )
      await sql`
        update plan_records set lookup_key = described.lookup_key, preview = described.preview
        from jsonb_to_recordset(${rows}::jsonb) as described (ordinal int, lookup_key text, preview jsonb)
        where plan_id = ${planId} and plan_records.ordinal = described.ordinal`.execute(db)
    },

    async finish(planId, { document, toBuy, highAtomic }) {
      await db
        .updateTable('plans')
        .set({ document: JSON.stringify(document), to_buy: toBuy, high_atomic: highAtomic })
        .where('id', '=', planId)
        .execute()
    },

    async drop(planId) {
      await db.deleteFrom('plans').where('id', '=', planId).execute()
    },

    async get(planId) {
      const row = await db.selectFrom('plans').selectAll().where('id', '=', planId).executeTakeFirst()
      return row && toPlan(row)
    },

    async digests(planId, recordIds) {
      if (recordIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('plan_records')
        .select(['record_id', 'digest'])
        .where('plan_id', '=', planId)
        .where(isOneOf('record_id', recordIds))
        .execute()
      return new Map(rows.map((row) => [row.record_id, row.digest]))
    },

    async countRecords(planId) {
      const row = await db
        .selectFrom('plan_records')
        .select((eb) => eb.cast<number>(eb.fn.countAll(), 'integer').as('count'))
        .where('plan_id', '=', planId)
        .executeTakeFirstOrThrow()
      return row.count
    },

    async setRun(planId, runId) {
      await db.updateTable('plans').set({ run_id: runId }).where('id', '=', planId).execute()
    },

    async tasks(runId, afterOrdinal, limit) {
      const rows = await db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .select([
          'ordinal',
          'record_id',
          'identity',
          'lookup_key',
          'tasks.closed',
          'runs.closed as runClosed',
        ])
        .where('run_id', '=', runId)
        .where('ordinal', '>', afterOrdinal)
        .orderBy('ordinal')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        ordinal: row.ordinal,
        recordId: row.record_id,
        identity: row.identity,
        lookupKey: row.lookup_key,
        closed: joinClosed(row.runClosed, row.closed),
      }))
    },
  }
}

function toPlan(row: Selectable<Tables['plans']>): Plan {
  return {
    id: row.id,
    kind: row.kind,
    connector: row.connector,
    object: row.object,
    entity: row.entity,
    recipe: row.recipe,
    job: row.job,
    document: row.document,
    toBuy: row.to_buy,
    priceAtomic: row.price_atomic,
    highAtomic: row.high_atomic,
    runId: row.run_id,
    madeAt: row.made_at,
  }
}
