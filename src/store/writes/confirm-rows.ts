import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { inOneTrip } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'
import type { TaskOutcome } from './task-outcome.ts'
import { lockLookups, shareOf, unshared } from './price-shares.ts'

/** Confirms intents that are rows, in the transaction that ends their tasks. */
export async function confirmRows(
  tx: Transaction<Tables>,
  results: readonly TaskOutcome[],
  at: Date,
): Promise<void> {
  const ids = results.map(({ id }) => String(id))
  const fields = (pick: (result: TaskOutcome) => readonly string[]) =>
    results.flatMap((result) => pick(result).map((field) => ({ id: String(result.id), field })))
  const unknown = fields((result) => result.unknown)
  const written = JSON.stringify(fields((result) => result.written))
  const rejected = results.flatMap(({ id, rejected: refused = [] }) =>
    refused.map(({ field, code }) => ({ id: String(id), field, code })),
  )
  if (rejected.length > 0) {
    await sql`
      update field_writes set state = 'rejected', code = refused.code
      from jsonb_to_recordset(${JSON.stringify(rejected)}::jsonb) as refused (id bigint, field text, code text)
      where task_id = refused.id and field_writes.field = refused.field and state = 'intended'`.execute(tx)
  }
  // `not in` is answered from a hash of the list. `not exists` compared each field with each: a second for five hundred records.
  await sql`
    delete from field_writes where task_id = any(${ids}::bigint[]) and state = 'intended' and (task_id, field) not in (
      select sent.id, sent.field
      from jsonb_to_recordset(${written}::jsonb || ${JSON.stringify(unknown)}::jsonb) as sent (id bigint, field text))`.execute(
    tx,
  )
  if (unknown.length > 0) {
    await sql`
      update field_writes set state = 'superseded'
      from jsonb_to_recordset(${JSON.stringify(unknown)}::jsonb) as lost (id bigint, field text)
      where task_id = lost.id and field_writes.field = lost.field and state = 'intended'`.execute(tx)
  }
  // The old value is superseded before the new one counts, so that at most one of them is ours at any time. The new ones are
  // found first: with old statistics, Postgres compared each of them with every value that was ever written.
  await sql`
    with new as materialized (
      select field_writes.id, connector, entity, record_id, field_writes.field
      from field_writes join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on sent.id = task_id and sent.field = field_writes.field
      where ${isIntendedOf(ids)}
    )
    update field_writes as old set state = 'superseded', superseded_by = new.id from new
    where old.state = 'written' and old.connector = new.connector
      and old.entity = new.entity and old.record_id = new.record_id and old.field = new.field`.execute(tx)
  await markWritten(tx, { ids, written, at })
}

/**
 * The intents of these tasks. Statistics of a moment without intents say that there are none, and Postgres then compared each field of a
 * batch with each intent: 1.5 million comparisons for a hundred records, a second on a busy machine. What stands inside
 * `coalesce` has no statistics.
 */
const isIntendedOf = (ids: readonly string[]) =>
  sql<boolean>`task_id = any(${[...ids]}::bigint[]) and coalesce(state = 'intended', false)`

/** Marks intents as written, each with its share of the price. `written` is JSON: task and field. */
async function markWritten(
  tx: Transaction<Tables>,
  { ids, written, at }: { ids: readonly string[]; written: string; at: Date },
): Promise<void> {
  const { rows } = await sql<{ key: LookupKey }>`
    select distinct lookup_key as key from field_writes
      join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on task_id = sent.id and field_writes.field = sent.field
    where lookup_key is not null and ${isIntendedOf(ids)}`.execute(tx)
  const keys = rows.map(({ key }) => key)
  const [, rest] = await inOneTrip(tx, lockLookups(keys), unshared(keys))
  await sql`
    with mine as (
      select field_writes.id, lookup_key, count(*) over (partition by lookup_key) as parts,
        row_number() over (partition by lookup_key order by field_writes.id) as part
      from field_writes join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on task_id = sent.id and field_writes.field = sent.field
      where ${isIntendedOf(ids)}
    ), rest as (
      select * from jsonb_to_recordset(${JSON.stringify(rest.rows)}::jsonb) as rest (lookup_key text, currency text, amount bigint)
    ), priced as (
      select mine.id, rest.currency, ${shareOf(sql`rest.amount`)} as price from mine left join rest using (lookup_key)
    )
    update field_writes set state = 'written', written_at = ${at}, currency = coalesce(priced.currency, field_writes.currency),
      price_atomic = coalesce(priced.price, price_atomic)
    from priced where field_writes.id = priced.id and field_writes.state = 'intended'`.execute(tx)
}
