import { sql } from 'kysely'
import type { Reference } from '../../domain/lists/references.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'

/** The references of a list as they were last read. */
export interface KeptReferences {
  rules: string
  readAt: Date
  references: Reference[]
}

/** Returns the references of a list; undefined where none were read. */
export async function keptReferences(db: Database, list: string): Promise<KeptReferences | undefined> {
  const rows = await db
    .selectFrom('list_references')
    .selectAll()
    .where('list', '=', list)
    .orderBy('ordinal')
    .execute()
  const [first] = rows
  return (
    first && {
      rules: first.rules,
      readAt: first.read_at,
      references: rows.map(({ name, question, identities, service_ids, record_ids }) => ({
        name,
        question,
        identities,
        serviceIds: service_ids,
        recordIds: record_ids,
      })),
    }
  )
}

/**
 * Stores the references of a list in place of earlier ones.
 *
 * Crash window: one transaction, so that a kill leaves the earlier ones whole. They are read again at no cost.
 */
export async function keepReferences(
  db: Database,
  list: string,
  { rules, readAt, references }: KeptReferences,
): Promise<void> {
  const given = references.map(({ name, question, identities, serviceIds, recordIds }, at) => ({
    ordinal: at + 1,
    name,
    question,
    identities,
    service_ids: serviceIds,
    record_ids: recordIds,
  }))
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('list_references').where('list', '=', list).execute()
    await sql`
      insert into list_references (list, ordinal, rules, read_at, name, question, identities, service_ids, record_ids)
      select ${list}, ordinal, ${rules}, ${readAt}::timestamptz, name, question, identities, service_ids, record_ids
      from jsonb_to_recordset(${storableJson(given)}::jsonb) as given (ordinal bigint, name text, question jsonb,
        identities jsonb, service_ids jsonb, record_ids jsonb)
      on conflict (list, ordinal) do nothing`.execute(tx)
  })
}

/** Erases a subject from the references of lists, and returns how many rows that were. The next fetch reads them again. */
export async function eraseReferences(db: Database, identities: readonly RecordIdentity[]): Promise<number> {
  const { rows } = await sql`
    delete from list_references as kept
    where exists (select from jsonb_to_recordset(kept.identities) as own (kind text, value text)
        join jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text)
          on own.kind = wanted.kind and own.value = wanted.value)
    returning ordinal`.execute(db)
  return rows.length
}
