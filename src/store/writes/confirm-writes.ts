import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'
import type { GiveWay } from '../database/go-first.ts'
import { pages } from '../database/parameters.ts'
import { inOneTrip } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'
import { finishStatement } from '../runs/ready-tasks.ts'
import { confirmRows } from './confirm-rows.ts'
import { ofTasks, openIntents, unpackIntents } from './open-intents.ts'
import { lockLookups, shareOf, unshared, type Unshared } from './price-shares.ts'
import type { TaskOutcome } from './task-outcome.ts'
import { tasksAtOnce } from './write-intents.ts'

/** Ends tasks and confirms their writes, page by page, each page in one transaction. Between two of them it gives way to presses. */
export async function confirmWrites(
  db: Database,
  results: readonly TaskOutcome[],
  { now, giveWay }: { now: () => Date; giveWay?: Pick<GiveWay, 'goOn'> | undefined },
): Promise<void> {
  for (const page of pages(results, tasksAtOnce)) {
    await giveWay?.goOn()
    await db.transaction().execute((tx) => confirmPage(tx, page, now()))
  }
}

async function confirmPage(tx: Transaction<Tables>, page: readonly TaskOutcome[], at: Date): Promise<void> {
  const sent = JSON.stringify(
    page.map((outcome) => ({ id: String(outcome.id), fields: sentFields(outcome) })),
  )
  const ids = page.map(({ id }) => id)
  const [, found] = await inOneTrip(tx, lockTasks(ids), intentsOf(ids, sent))
  const { hasRows = false, keys = [] } = found.rows[0] ?? {}
  // An undo or an erasure has made rows of intents, or a version before has stored them so: a field has one row.
  if (hasRows) {
    await unpackIntents(tx, ofTasks(ids))
    await finishStatement(tx, page, at).execute(tx)
    return confirmRows(tx, page, at)
  }
  const [replaced, , rest] = await inOneTrip(tx, supersedeOld(sent), lockLookups(keys), unshared(keys))
  await inOneTrip(
    tx,
    insertRows(sent, { rest: rest.rows, replaced: replaced.rows }, at),
    finishStatement(tx, page, at),
    // A task that somebody else has ended keeps its outcome, and has its rows.
    sql`update tasks set open_intents = null where id in (select id from (${ofTasks(ids)}) as meant)`,
  )
}

/** By field. One that was refused is not written, whatever else is said of it. */
function sentFields({ written, unknown, rejected = [] }: TaskOutcome): Record<string, object> {
  return Object.fromEntries([
    ...written.map((field) => [field, { state: 'written' }] as const),
    ...unknown.map((field) => [field, { state: 'superseded' }] as const),
    ...rejected.map(({ field, code }) => [field, { state: 'rejected', code }] as const),
  ])
}

/** An erasure or an undo of these tasks is over when this has been answered, or waits for this transaction. */
function lockTasks(ids: readonly bigint[]): RawBuilder<unknown> {
  return sql`select from tasks where id = any(${ids.map(String)}::bigint[]) order by id for no key update`
}

/** Tells whether fields of these tasks have rows already, and which lookups the fields that were written came from. */
function intentsOf(
  ids: readonly bigint[],
  sent: string,
): RawBuilder<{ hasRows: boolean; keys: LookupKey[] }> {
  return sql`
    select (
        -- Counted: to find one of them, Postgres may read the whole table.
        select count(*) > 0 from field_writes where task_id = any(${ids.map(String)}::bigint[])
      ) as "hasRows",
      array(select distinct lookup_key from (${outcomesOf(sent)}) as outcome
        where outcome.state = 'written' and lookup_key is not null) as keys`
}

/**
 * The open intents that were sent, each with its outcome. Nothing is joined: statistics of a moment without intents say that there are
 * none, and each field of a page was compared with each.
 */
function outcomesOf(sent: string): RawBuilder<unknown> {
  const task = sql`select * from tasks where id = given.id and open_intents is not null`
  return sql`
    select open.*, fields -> field ->> 'state' as state, fields -> field ->> 'code' as code
    from jsonb_to_recordset(${sent}::jsonb) as given (id bigint, fields jsonb)
      cross join lateral (${openIntents(task)} offset 0) as open
    where fields -> field is not null offset 0`
}

/** A write whose value was replaced: the field of the task that replaced it, and the id that its row will have. */
interface Replaced {
  task: string
  field: string
  id: string
}

/**
 * The old value is superseded before the new one counts, so that at most one of them is ours at any time. The new ones are
 * found first: with old statistics, Postgres compared each of them with every value that was ever written. The old row names the new
 * one, which comes behind it, and so is changed once.
 */
function supersedeOld(sent: string): RawBuilder<Replaced> {
  return sql`
    with new as materialized (
      select task_id, connector, entity, record_id, field from (${outcomesOf(sent)}) as outcome where state = 'written'
    )
    update field_writes as old set state = 'superseded', superseded_by = nextval('field_writes_id_seq') from new
    where old.state = 'written' and old.connector = new.connector
      and old.entity = new.entity and old.record_id = new.record_id and old.field = new.field
    returning new.task_id::text as task, old.field, old.superseded_by::text as id`
}

function insertRows(
  sent: string,
  { rest, replaced }: { rest: readonly Unshared[]; replaced: readonly Replaced[] },
  at: Date,
): RawBuilder<unknown> {
  const byKey = JSON.stringify(Object.fromEntries(rest.map((each) => [each.lookup_key, each])))
  const ids = JSON.stringify(
    Object.fromEntries(replaced.map(({ task, field, id }) => [`${task} ${field}`, id])),
  )
  const paid = (name: 'amount' | 'currency') =>
    sql`case when state = 'written' then paid -> lookup_key ->> ${sql.lit(name)} end`
  // Amounts are read out of the list before the rows are sorted: each row would carry the whole list, on to the disk.
  return sql`
    with given as materialized (select ${byKey}::jsonb as paid, ${ids}::jsonb as ids), sent as (
      select outcome.*, (${paid('amount')})::bigint as amount, ${paid('currency')} as currency,
        (ids ->> (task_id || ' ' || field))::bigint as id
      from (${outcomesOf(sent)}) as outcome cross join given offset 0
    ), mine as (
      select *, count(*) over same as parts, row_number() over (same order by task_id, place) as part
      from sent window same as (partition by lookup_key, state)
    )
    insert into field_writes (id, task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value,
      lookup_key, rule, mapping, code, state, intended_at, written_at, currency, price_atomic)
    overriding system value
    select coalesce(id, nextval('field_writes_id_seq')), task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value,
      lookup_key, rule, mapping, code, state, intended_at, case when state = 'written' then ${at}::timestamptz end,
      currency, coalesce(${shareOf(sql`amount`)}, 0)
    from mine order by task_id, place
    on conflict (task_id, field) do nothing`
}
