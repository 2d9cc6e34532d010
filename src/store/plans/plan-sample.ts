import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'

export interface PlanSampleRow {
  recordId: string
  /** The changes that the ledger's answers would make; null where something must be bought first. */
  changes: Record<string, { from: FieldValue | null; to: FieldValue }> | null
  /** The lookup that the record waits for. */
  lookupKey: LookupKey | null
}

/** Returns some records of a plan: first those whose changes are known, then those for which something would be bought. */
export async function planSample(db: Database, planId: string, limit: number): Promise<PlanSampleRow[]> {
  const { rows } = await sql<PlanSampleRow>`
    select record_id as "recordId", preview as changes, lookup_key as "lookupKey" from plan_records
    where plan_id = ${planId} and (preview is null and lookup_key is not null or preview <> '{}')
    order by preview is null, ordinal limit ${limit}`.execute(db)
  return rows
}
