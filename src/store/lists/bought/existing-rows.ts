import { sql } from 'kysely'
import type { Identity } from '../../../domain/record.ts'
import type { Database } from '../../database/database.ts'

/** A row of a plan whose record exists in the CRM. */
export interface ExistingRow {
  ordinal: number
  recordId: string
  identity: Identity
}

/**
 * Returns rows of a plan whose record exists, behind a place: those that the plan names from `firstPlace` on, and those that the run
 * of the plan has found while it made records. Each record comes once, with the first of its rows.
 */
export async function existingRows(
  db: Database,
  {
    planId,
    runId,
    entity,
    firstPlace,
  }: { planId: string; runId: string | null; entity: string; firstPlace: number },
  after: number,
  limit: number,
): Promise<ExistingRow[]> {
  // The text has a name of its own: `order by ordinal` would sort a column of the answer first, and "10" stands before "9".
  const { rows } = await sql<{ place: string; record_id: string; identity: Identity }>`
    with found as (
      select ordinal::bigint as ordinal, preview ->> 'recordId' as record_id, preview -> 'identity' as identity
      from plan_records where plan_id = ${planId} and ordinal >= ${firstPlace}
      union all
      select made.ordinal, made.record_id, planned.preview -> 'identity'
      from created_records as made
        join plan_records as planned on planned.plan_id = ${planId} and planned.ordinal = made.ordinal
      where made.run_id = ${runId} and made.entity = ${entity} and made.state = 'exists' and made.record_id is not null
    ), once as (
      select distinct on (record_id) ordinal, record_id, identity from found order by record_id, ordinal
    ) select ordinal::text as place, record_id, identity from once
    where ordinal > ${after} and identity is not null order by ordinal limit ${limit}`.execute(db)
  return rows.map(({ place, record_id: recordId, identity }) => ({
    ordinal: Number(place),
    recordId,
    identity,
  }))
}
