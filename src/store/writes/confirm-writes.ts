import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'
import { pages } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'
import { finishTasks, type TaskResult } from '../runs/ready-tasks.ts'
import type { WritePages } from './write-intents.ts'

/** The outcome of a task's intents. An intent that is in no list was never sent, and is deleted. */
export interface TaskOutcome extends TaskResult {
  written: readonly string[]
  /** Fields that changed between our attempts, so that it is unknown whether our value was written. */
  unknown: readonly string[]
  /** Fields that were sent and that the CRM refused. */
  rejected?: readonly { field: string; code: string }[] | undefined
}

/** Ends tasks and confirms their writes, page by page, each page in one transaction. */
export async function confirmWrites(
  db: Database,
  results: readonly TaskOutcome[],
  { now, pages: size }: { now: () => Date; pages: Pick<WritePages, 'tasks'> },
): Promise<void> {
  for (const page of pages(results, size.tasks)) {
    await db.transaction().execute(async (tx) => {
      await finishTasks(tx, page, now())
      await confirmIntents(tx, page, now())
    })
  }
}

async function confirmIntents(
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

/**
 * Marks intents as written, each with its share of the price. The cost of a lookup, less the shares of earlier writes, is
 * shared equally among the fields that it fills now; the remainder goes to the first ones. The shares of a lookup never add
 * up to more than was paid for it. `written` is JSON: task and field.
 */
async function markWritten(
  tx: Transaction<Tables>,
  { ids, written, at }: { ids: readonly string[]; written: string; at: Date },
): Promise<void> {
  // The lock needs a statement of its own, so that the second of two batches sees the shares that the first has taken.
  const { rows } = await sql<{ key: LookupKey }>`
    select key from lookups where key in (
      select lookup_key from field_writes
        join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
          on task_id = sent.id and field_writes.field = sent.field
      where ${isIntendedOf(ids)})
    order by key collate "C" for no key update`.execute(tx)
  // Read by itself, so that the update has a list of known length: it took the sums for one row, and read them again for each field.
  const rest = await unsharedOf(
    tx,
    rows.map(({ key }) => key),
  )
  await sql`
    with mine as (
      select field_writes.id, lookup_key, count(*) over (partition by lookup_key) as parts,
        row_number() over (partition by lookup_key order by field_writes.id) as place
      from field_writes join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on task_id = sent.id and field_writes.field = sent.field
      where ${isIntendedOf(ids)}
    ), rest as (
      select * from jsonb_to_recordset(${JSON.stringify(rest)}::jsonb) as rest (lookup_key text, currency text, amount bigint)
    ), priced as (
      select mine.id, rest.currency, rest.amount / parts + case when place <= rest.amount % parts then 1 else 0 end as price
      from mine left join rest using (lookup_key)
    )
    update field_writes set state = 'written', written_at = ${at}, currency = coalesce(priced.currency, field_writes.currency),
      price_atomic = coalesce(priced.price, price_atomic)
    from priced where field_writes.id = priced.id and field_writes.state = 'intended'`.execute(tx)
}

interface Unshared {
  lookup_key: LookupKey
  currency: string | null
  amount: string
}

/** Returns for each lookup that was paid for how much of its cost no write has taken yet. */
async function unsharedOf(tx: Transaction<Tables>, keys: readonly LookupKey[]): Promise<Unshared[]> {
  const { rows } = await sql<Unshared>`
    with paid as (
      select lookup_key, max(currency) as currency, sum(amount_atomic) as amount from charge_shares
      where lookup_key = any(${[...keys]}::text[]) and state = 'settled' group by lookup_key
    ), taken as (
      select lookup_key, sum(price_atomic) as amount from field_writes
      where lookup_key = any(${[...keys]}::text[]) group by lookup_key
    )
    select paid.lookup_key, currency, greatest(paid.amount - coalesce(taken.amount, 0), 0)::bigint::text as amount
    from paid left join taken using (lookup_key)`.execute(tx)
  return rows
}
