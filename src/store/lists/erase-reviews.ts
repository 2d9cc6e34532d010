import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'

/**
 * Erases what people have answered about a subject, and returns the number of answers: those about rows that have one of its identities,
 * and those that name one of its records, while the index and the tasks still name these.
 *
 * `identities` are those that belong to the subject alone.
 */
export async function eraseReviews(
  tx: Database,
  { identities, taskIds }: { identities: readonly RecordIdentity[]; taskIds: readonly bigint[] },
): Promise<number> {
  const wanted = JSON.stringify(identities)
  const texts = identities.map(({ kind, value }) => `${kind}|${value}`)
  const { rows } = await sql`
    delete from list_reviews as kept where exists (select from jsonb_array_elements_text(kept.identities) as own (text)
        where own.text = any(${texts}::text[]))
      or (connector, entity, record_id) in (
        select connector, entity, record_id from jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text)
          join record_identities as known on known.kind = wanted.kind and known.value = wanted.value
        union
        select runs.connector, runs.entity, tasks.record_id from tasks join runs on runs.id = tasks.run_id
        where tasks.id = any(${taskIds.map(String)}::bigint[]))
    returning id`.execute(tx)
  return rows.length
}
