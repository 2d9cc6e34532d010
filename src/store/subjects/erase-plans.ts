import { sql, type Transaction } from 'kysely'
import { identifiersOfKey, isNamed } from '../../domain/subjects/traces.ts'
import type { Tables } from '../database/tables/schema.ts'
import { nameOf, type Subject } from './find-subject.ts'

/** Deletes a subject's records from plans, and returns how many. */
export async function erasePlans(
  tx: Transaction<Tables>,
  { identifiers, lookups, taskIds }: Subject,
): Promise<number> {
  const named = new Map(identifiers.map((identifier) => [nameOf(identifier), identifier]))
  const planned = await tx
    .selectFrom('plan_records')
    .select('lookup_key')
    .distinct()
    .where('lookup_key', 'is not', null)
    .execute()
  const keys = planned.flatMap(({ lookup_key: key }) =>
    key !== null && (lookups.includes(key) || isNamed(identifiersOfKey(key), named)) ? [key] : [],
  )
  const { rows } = await sql<{ ordinal: number }>`
    delete from plan_records using plans where plans.id = plan_records.plan_id and (
      plan_records.lookup_key = any(${keys})
      or exists (select 1 from tasks join runs on runs.id = tasks.run_id
        where tasks.id = any(${taskIds.map(String)}::bigint[]) and tasks.record_id = plan_records.record_id
          and runs.connector = plans.connector and runs.entity = plans.entity and plans.kind = 'sync'))
    returning plan_records.ordinal`.execute(tx)
  return rows.length
}
