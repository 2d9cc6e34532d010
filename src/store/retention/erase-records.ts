import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { forgottenKey, forgottenRecord } from '../../domain/subjects/forgotten.ts'
import type { Tables } from '../database/tables/schema.ts'
import { eraseCharges } from '../subjects/erase-charges.ts'
import { eraseFieldWrites, eraseLookups, eraseTasks } from '../subjects/erase-subject.ts'

export interface EraseTools {
  now: Date
  token: () => string
}

type Tx = Transaction<Tables>

/** Erases values, identities and ties of tasks as `forget` does. States, amounts and field names stay, so that all figures do. */
export async function eraseTaskRows(
  tx: Tx,
  ids: readonly string[],
  { now, token }: EraseTools,
): Promise<void> {
  const tasks = ids.map(BigInt)
  await eraseFieldWrites(tx, tasks)
  await eraseTasks(tx, tasks, now, token)
  await sql`update tasks set erased_at = ${now} where id = any(${[...ids]}::bigint[])`.execute(tx)
}

const namingLookups = [
  'created_records',
  'list_rows',
  'signals',
  'signal_checks',
  'champions',
  'plan_records',
] as const

/** Gives lookups random keys and erases their requests, answers, salts and challenges. Charges keep amounts, times and nonces. */
export async function eraseLookupRows(tx: Tx, keys: readonly string[], { token }: EraseTools): Promise<void> {
  const old = keys as LookupKey[]
  const names = new Map(old.map((key) => [key, forgottenKey(key, token())]))
  const pairs = JSON.stringify([...names].map(([from, to]) => ({ from, to })))
  for (const table of namingLookups)
    await sql`
      update ${sql.table(table)} as naming set lookup_key = named."to"
      from jsonb_to_recordset(${pairs}::jsonb) as named ("from" text, "to" text)
      where naming.lookup_key = named."from"`.execute(tx)
  await eraseCharges(tx, old)
  await eraseLookups(tx, names)
}

/** A run keeps its settings. File names, places and conditions may name a person. */
export async function eraseRunRows(
  tx: Tx,
  ids: readonly string[],
  { now, token }: EraseTools,
): Promise<void> {
  for (const id of ids)
    await sql`
      update runs set erased_at = ${now}, source = source - 'file' - 'path' - 'filter' - 'told' - 'ids' - 'out',
        fingerprint = case when trigger = 'call' then fingerprint else ${forgottenRecord(token())} end
      where id = ${id}`.execute(tx)
  await sql`update run_stops set stopped_by = 'erased', reason = 'erased' where run_id = any(${[...ids]})`.execute(
    tx,
  )
}

export async function eraseMadeRows(tx: Tx, ids: readonly string[], { token }: EraseTools): Promise<void> {
  for (const id of ids)
    await sql`
      update created_records set key = ${`forgotten-${token()}`}, identity = '{}', identities = '[]', snapshot = null,
        record_id = null, lookup_key = null, reason = 'forgotten' where id = ${id}::bigint`.execute(tx)
  await sql`delete from reserved_identities where created_id = any(${[...ids]}::bigint[])`.execute(tx)
}

/** The marker is a digest and stays: by it the same note is not written twice. */
export async function eraseNoteRows(tx: Tx, ids: readonly string[], { token }: EraseTools): Promise<void> {
  for (const id of ids)
    await sql`
      update crm_notes set record_id = ${forgottenRecord(token())}, draft = null, identities = '[]', note_id = null,
        snapshot = null, reason = null where id = ${id}::bigint`.execute(tx)
}

/** The id of a match is a digest and stays: by it the same match is not worked twice. */
export async function eraseMatchRows(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    update matches set company = '{"serviceId": null, "identity": {}, "values": {}}', identities = '[]',
      signals = '[]', record_id = null, reason = 'forgotten' where id = any(${[...ids]})`.execute(tx)
}

/** Counts and times of a fetch stay. */
export async function eraseFetchRows(tx: Tx, ids: readonly string[], { token }: EraseTools): Promise<void> {
  for (const id of ids)
    await sql`
      update list_fetches set list = split_part(list, '/', 1) || '/' || ${forgottenRecord(token())},
        parts = (select coalesce(jsonb_agg(jsonb_set(part, '{name}', '"forgotten"')), '[]')
          from jsonb_array_elements(parts) as part) where id = ${id}::bigint`.execute(tx)
}

/** A plan keeps the link to its run, by which the figures of lists are read. */
export async function erasePlanRows(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`delete from plan_records where plan_id = any(${[...ids]})`.execute(tx)
  await sql`update plans set document = '{}', job = '{}' where id = any(${[...ids]})`.execute(tx)
}

/** An index that nothing has read for so long goes whole: half of one would let a record be made a second time. */
export async function eraseIndexRows(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    delete from record_identities where connector || ' ' || entity = any(${[...ids]})`.execute(tx)
  await sql`delete from record_indexes where connector || ' ' || entity = any(${[...ids]})`.execute(tx)
}

/** The digest of an order and the ids of what it made stay: without them the same order would be made once more. */
export async function eraseOrderRows(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`update service_actions set body = '{}', problem = null where id = any(${[...ids]}::bigint[])`.execute(
    tx,
  )
}

/** The newest action of each kind stays without a name: the state of spending is read from it. */
export async function eraseAuditRows(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`
    delete from audit where id = any(${[...ids]}::bigint[]) and id not in (select max(id) from audit group by action)`.execute(
    tx,
  )
  await sql`
    update audit set actor = 'erased', target = null, details = null where id = any(${[...ids]}::bigint[])`.execute(
    tx,
  )
}
