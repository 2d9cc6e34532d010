import { sql } from 'kysely'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type { Draft } from './created-records.ts'

/** A row of a list for which a plan makes a record. */
export interface PlannedRow extends Draft {
  /** By canonical field. */
  values: Readonly<Record<string, FieldValue>>
  /** The company to which the record is tied: one that is there, or one that the same plan makes, by its key. */
  company?: PlannedCompany
  /** The CRM's id of the owner. */
  owner?: string
  /** The record that it is. Set: nothing is made of the row, and the record is updated. */
  recordId?: string
  /** An answer has named a suppressed subject, and is not kept. Set by lookups, and never stored. */
  isSuppressed?: boolean
}

export type PlannedCompany = { entity: string } & ({ recordId: string } | { key: string })

/** The rows of a list's plan. They stand in the plan itself, because pages of the list grow stale. */
export interface PlannedRows {
  add(planId: string, rows: readonly PlannedRow[]): Promise<void>
  /** Returns rows of the plan that were not forgotten since, in order: at most `limit` behind a place. */
  after(planId: string, ordinal: number, limit: number): Promise<PlannedRow[]>
  /** Returns those of these keys that rows of the plan have. */
  known(planId: string, keys: readonly string[]): Promise<Set<string>>
}

export function createPlannedRows(db: Database): PlannedRows {
  const planned = (planId: string) =>
    db
      .selectFrom('plan_records')
      .select(['ordinal', 'record_id', 'preview'])
      .where('plan_id', '=', planId)
      .orderBy('ordinal')
  return {
    async add(planId, rows) {
      if (rows.length === 0) return
      const given = rows.map(({ ordinal, key, ...preview }) => ({ ordinal, key, preview }))
      await sql`
        insert into plan_records (plan_id, ordinal, record_id, digest, preview)
        select ${planId}, ordinal, key, key, preview
        from jsonb_to_recordset(${storableJson(given)}::jsonb) as given (ordinal int, key text, preview jsonb)`.execute(
        db,
      )
    },

    after: async (planId, ordinal, limit) =>
      (await planned(planId).where('ordinal', '>', ordinal).limit(limit).execute()).map(toPlanned),

    async known(planId, keys) {
      if (keys.length === 0) return new Set()
      const rows = await db
        .selectFrom('plan_records')
        .select('record_id')
        .where('plan_id', '=', planId)
        .where('record_id', 'in', [...keys])
        .execute()
      return new Set(rows.map((row) => row.record_id))
    },
  }
}

type Preview = Omit<PlannedRow, 'ordinal' | 'key'>

function toPlanned(row: { ordinal: number; record_id: string; preview: unknown }): PlannedRow {
  return { ordinal: row.ordinal, key: row.record_id, ...(row.preview as Preview) }
}
