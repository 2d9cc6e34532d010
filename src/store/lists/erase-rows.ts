import { sql } from 'kysely'
import { forgottenRecord } from '../../domain/subjects/forgotten.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/**
 * Erases a subject from the rows of lists, and returns the number of rows. Their fetches count them as forgotten, so that their totals
 * still add up.
 *
 * `identities` are those that belong to the subject alone.
 */
export async function eraseListRows(tx: Database, identities: readonly RecordIdentity[]): Promise<number> {
  if (identities.length === 0) return 0
  await eraseParts(tx, identities)
  const wanted = JSON.stringify(identities)
  const { rows } = await sql<{ erased: number }>`
    with gone as (
      delete from list_rows as kept where exists (
        select from jsonb_to_recordset(kept.identities) as own (kind text, value text)
          join jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text)
            on own.kind = wanted.kind and own.value = wanted.value)
      returning fetch_id, ordinal
    ), counts as (
      select fetch_id, count(*) as erased from gone group by fetch_id
    ), counted as (
      update list_fetches set stored = stored - counts.erased,
        dropped = dropped || jsonb_build_object('forgotten', coalesce((dropped ->> 'forgotten')::bigint, 0) + counts.erased)
      from counts where counts.fetch_id = list_fetches.id
    ), untold as (
      delete from list_row_identities as kept using gone
      where kept.fetch_id = gone.fetch_id and kept.ordinal = gone.ordinal and not kept.is_shared
    ) select coalesce(sum(erased), 0)::int as erased from counts`.execute(tx)
  await sql`
    delete from list_row_identities as kept using jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text)
    where kept.kind = wanted.kind and kept.value = wanted.value`.execute(tx)
  return rows[0]?.erased ?? 0
}

/**
 * Erases companies from the parts of lists of people, which bear their ids. Called before their rows are erased. The questions that were
 * asked at them are part of no list any more.
 */
async function eraseParts(tx: Database, identities: readonly RecordIdentity[]): Promise<void> {
  if (identities.length === 0) return
  await sql`
    with gone as (
      select distinct kept.row_key from list_rows as kept where exists (
        select from jsonb_to_recordset(kept.identities) as own (kind text, value text)
          join jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text)
            on own.kind = wanted.kind and own.value = wanted.value)
    )
    update list_fetches as kept set parts = (
      select jsonb_agg(case when part ->> 'name' in (select row_key from gone)
        then jsonb_set(part, '{name}', '"forgotten"') else part end order by place)
      from jsonb_array_elements(kept.parts) with ordinality as each (part, place))
    where exists (select from jsonb_array_elements(kept.parts) as part
      where part ->> 'name' in (select row_key from gone))`.execute(tx)
}

/** Erases companies from the fetches of people at a single one, which bear its key: kind and value, or its id at the service. */
export async function eraseCompanyFetches(
  tx: Database,
  identities: readonly RecordIdentity[],
  token: () => string,
): Promise<void> {
  const keys = identities.map(({ kind, value }) => (kind === 'service_id' ? value : `${kind}|${value}`))
  await sql`
    update list_fetches set list = split_part(list, '/', 1) || '/' || ${forgottenRecord(token())}, parts = (
      select jsonb_agg(jsonb_set(part, '{name}', '"forgotten"') order by place)
      from jsonb_array_elements(parts) with ordinality as each (part, place))
    where position('/' in list) > 0 and substr(list, position('/' in list) + 1) = any(${keys})`.execute(tx)
}

/**
 * Deletes the rows of fetches that began before this time, and returns how many: they are copies of pages, and are kept no longer than
 * these. Such a fetch goes on no more.
 */
export async function eraseOldListRows(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ erased: number }>`
    with old as (
      select fetch_id, ordinal from list_rows join list_fetches on list_fetches.id = list_rows.fetch_id
      where started_at < ${before} limit ${limit}
    ), closed as (
      update list_fetches set fresh_until = least(fresh_until, ${before}::timestamptz), stored = 0
      where id in (select fetch_id from old)
    ), untold as (
      delete from list_row_identities where fetch_id in (select fetch_id from old)
    ), gone as (
      delete from list_rows using old
      where list_rows.fetch_id = old.fetch_id and list_rows.ordinal = old.ordinal returning 1
    ) select count(*)::int as erased from gone`.execute(db)
  return rows[0]?.erased ?? 0
}
