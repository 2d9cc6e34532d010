import { sql } from 'kysely'
import type { FieldValue, Identity } from '../../domain/record.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type { Draft } from './created-records.ts'

/** A row of a list for which a plan makes a record. */
export interface PlannedRow extends Draft {
  /** By canonical field. */
  values: Readonly<Record<string, FieldValue>>
}

/** The rows of a list's plan. They stand in the plan itself, because pages of the list grow stale. */
export interface PlannedRows {
  add(planId: string, rows: readonly PlannedRow[]): Promise<void>
  /** Returns every row of the plan that was not forgotten since, in order. */
  all(planId: string): Promise<PlannedRow[]>
}

export function createPlannedRows(db: Database): PlannedRows {
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

    async all(planId) {
      const rows = await db
        .selectFrom('plan_records')
        .select(['ordinal', 'record_id', 'preview'])
        .where('plan_id', '=', planId)
        .orderBy('ordinal')
        .execute()
      return rows.map(({ ordinal, record_id: key, preview }) => ({
        ordinal,
        key,
        ...(preview as unknown as {
          identity: Identity
          identities: RecordIdentity[]
          page: number | null
          lookupKey: string | null
          values: Record<string, FieldValue>
        }),
      }))
    },
  }
}
