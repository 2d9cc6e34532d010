import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { forgottenKey, forgottenRecord } from '../../domain/subjects/forgotten.ts'
import type { Tables } from '../database/tables/schema.ts'
import { isOfFile } from '../views/filled-fields.ts'

/**
 * Cuts the ties between the records of a forgotten subject and what was paid for them. A record led to its task, the task to
 * the keys of its lookups, and a key to its charges: both ends are cut.
 *
 * - The tasks and field writes of a record in a CRM lose its id, and get a random one. A row of a file keeps its line.
 * - Their lookup keys are replaced by those of stand-ins: rows with the operation and the outcome of the lookup, so that the
 *   figures of the run stay, and with nothing that was paid. The lookups of others, such as an employer's, stay as they are.
 *
 * The charges keep run, connector, operation, amount and times: they count in their run, day and month as before.
 *
 * Crash windows: all of it is part of the transaction that erases the subject. Killed before its commit, record and charges
 * are tied as before; after it, they are not. A worker that has read a task before the commit confirms what it writes by the
 * task's id, which stays.
 */
export async function cutTies(
  tx: Transaction<Tables>,
  taskIds: readonly bigint[],
  token: () => string,
): Promise<void> {
  if (taskIds.length === 0) return
  const ids = taskIds.map(String)
  await forgetPlaces(tx, ids)
  const tasks = JSON.stringify(ids.map((id) => ({ id, record: forgottenRecord(token()) })))
  const { rows: keys } = await sql<{ key: LookupKey }>`
    select distinct key from tasks cross join lateral unnest(steps || lookup_key) as key
    where id = any(${ids}::bigint[]) and key is not null`.execute(tx)
  const names = JSON.stringify(keys.map(({ key }) => ({ old: key, name: forgottenKey(key, token()) })))
  // No time of its own: by one that it shares with another row the two could be told to belong together.
  await sql`
    insert into lookups (key, operation, request, state, reason, outcome, run_id, connector, due_at, salt)
    select name, operation, '{}', 'failed', 'forgotten', outcome, run_id, connector, 'epoch', null
    from lookups join jsonb_to_recordset(${names}::jsonb) as named (old text, name text) on key = old`.execute(
    tx,
  )
  await sql`
    with named as (select * from jsonb_to_recordset(${names}::jsonb) as named (old text, name text))
    update tasks set own_before = null,
      lookup_key = (select name from named where old = lookup_key),
      steps = array(select name from unnest(steps) with ordinality as step (key, place)
        join named on old = key order by place),
      record_id = case when ${isOfFile} then tasks.record_id else given.record end
    from runs, jsonb_to_recordset(${tasks}::jsonb) as given (id bigint, record text)
    where tasks.id = given.id and runs.id = tasks.run_id`.execute(tx)
  await sql`
    update field_writes set record_id = given.record,
      lookup_key = (select name from jsonb_to_recordset(${names}::jsonb) as named (old text, name text)
        where old = field_writes.lookup_key)
    from jsonb_to_recordset(${tasks}::jsonb) as given (id bigint, record text)
    where field_writes.task_id = given.id`.execute(tx)
}

/** Deletes the notes of records that were asked for on demand or merged. */
async function forgetPlaces(tx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  const records = sql`(select connector, entity, record_id from tasks join runs on runs.id = tasks.run_id
    where tasks.id = any(${[...ids]}::bigint[]))`
  await sql`delete from button_tasks where (connector, entity, record_id) in ${records}`.execute(tx)
  await sql`delete from merged_records where (connector, entity, record_id) in ${records}
    or (connector, entity, into_id) in ${records}`.execute(tx)
}
