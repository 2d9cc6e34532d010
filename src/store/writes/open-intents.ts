import { sql, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'

/** An intent in its task's row. A name that is absent is a value that was not there; one with null is a field that held null. */
export interface StoredIntent {
  field: string
  old?: FieldValue
  raw?: FieldValue
  new: FieldValue
  key?: LookupKey
  rule: string
  mapping: string
  at: string
}

interface OpenTask {
  id: bigint
  run_id: string
  connector: string
  entity: string
  record_id: string
  intents: StoredIntent[]
}

type FieldWriteRow = Selectable<Tables['field_writes']>

/** The tasks whose open intents are meant: a question of its own, whose rows have the columns of `tasks`. */
type TasksMeant = RawBuilder<unknown>

/** The tasks of a CRM's records, each found by itself: by old statistics half of all tasks are those of a hundred records. */
export function ofRecords(
  connector: string,
  entities: readonly string[],
  ids: readonly string[],
): TasksMeant {
  return sql`
    select found.* from unnest(${[...new Set(ids)]}::text[]) as wanted (record) cross join lateral (
      select * from tasks where record_id = wanted.record and open_intents is not null offset 0) as found
    join runs on runs.id = found.run_id
    where runs.connector = ${connector} and runs.entity = any(${[...entities]}::text[])`
}

export function ofTasks(ids: readonly bigint[]): TasksMeant {
  return sql`select * from tasks where id = any(${ids.map(String)}::bigint[]) and open_intents is not null`
}

export function ofRun(runId: string): TasksMeant {
  return sql`select * from tasks where run_id = ${runId} and open_intents is not null`
}

/** The tasks that are writing what one of these lookups has answered. */
export function writingFrom(keys: readonly LookupKey[]): TasksMeant {
  return sql`
    select * from tasks where status = 'ready' and open_intents is not null and exists (
      select from jsonb_array_elements(open_intents) as intent where intent ->> 'key' = any(${[...keys]}::text[]))`
}

/** Open intents with the columns of `field_writes`, and their place in their task. */
export function openIntents(tasks: TasksMeant): RawBuilder<unknown> {
  return sql`
    select meant.id as task_id, meant.run_id, runs.connector, runs.entity, meant.record_id, intent ->> 'field' as field,
      intent -> 'old' as old_value, intent -> 'raw' as old_raw, intent -> 'new' as new_value, intent ->> 'key' as lookup_key,
      intent ->> 'rule' as rule, intent ->> 'mapping' as mapping, (intent ->> 'at')::timestamptz as intended_at, place
    from (${tasks}) as meant
      -- One by one: the statistics of tasks with open intents are those of another moment.
      cross join lateral (select connector, entity from runs where id = meant.run_id offset 0) as runs
      cross join jsonb_array_elements(meant.open_intents) with ordinality as listed (intent, place)`
}

/** The open intents of these tasks, for `asRows`. */
export function selectOpenIntents(tasks: TasksMeant): RawBuilder<OpenTask> {
  return sql<OpenTask>`
    select meant.id, run_id, runs.connector, runs.entity, record_id, open_intents as intents
    from (${tasks}) as meant join runs on runs.id = meant.run_id order by meant.id`
}

/**
 * Returns rows of `field_writes` and the open intents behind them, each as the row that it will be; it has no id yet. The intents are read
 * before the rows: an intent becomes a row, and never the other way round, so that it is in one of the two answers. One that is in
 * both counts as its row.
 */
export async function withOpenIntents<Row extends Pick<FieldWriteRow, 'task_id' | 'field'>>(
  db: Database,
  tasks: TasksMeant,
  readRows: () => Promise<Row[]>,
): Promise<(Row | FieldWriteRow)[]> {
  const { rows: open } = await selectOpenIntents(tasks).execute(db)
  return joined(await readRows(), open)
}

export function joined<Row extends Pick<FieldWriteRow, 'task_id' | 'field'>>(
  rows: readonly Row[],
  open: readonly OpenTask[],
): (Row | FieldWriteRow)[] {
  const known = new Set(rows.map(({ task_id, field }) => `${task_id} ${field}`))
  return [...rows, ...asRows(open).filter(({ task_id, field }) => !known.has(`${task_id} ${field}`))]
}

export function asRows(open: readonly OpenTask[]): FieldWriteRow[] {
  return open.flatMap(({ id, run_id, connector, entity, record_id, intents }) =>
    intents.map((intent) => ({
      id: 0n,
      task_id: id,
      run_id,
      connector,
      entity,
      record_id,
      field: intent.field,
      old_value: intent.old ?? null,
      old_raw: intent.raw ?? null,
      new_value: intent.new,
      lookup_key: intent.key ?? null,
      rule: intent.rule,
      mapping: intent.mapping,
      intended_at: new Date(intent.at),
      state: 'intended',
      price_atomic: 0n,
      currency: null,
      superseded_by: null,
      code: null,
      written_at: null,
      undone_at: null,
    })),
  )
}

/**
 * Makes rows of the open intents of these tasks, for whoever changes them before the write is confirmed: an undo, an erasure. The
 * confirmation of the write finds them there.
 *
 * Crash windows: one transaction. Killed before its commit, the intents are in the tasks; after it, they are rows.
 */
export async function unpackIntents(tx: Transaction<Tables>, tasks: TasksMeant): Promise<void> {
  const { rows } = await sql<{ id: bigint }>`
    with meant as materialized (select id from (${tasks}) as meant)
    select tasks.id from meant join tasks on tasks.id = meant.id where tasks.open_intents is not null
    order by tasks.id for no key update of tasks`.execute(tx)
  if (rows.length === 0) return
  const locked = ofTasks(rows.map(({ id }) => id))
  await sql`
    insert into field_writes (task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value,
      lookup_key, rule, mapping, state, intended_at)
    select task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value, lookup_key, rule, mapping,
      'intended', intended_at
    from (${openIntents(locked)}) as open order by task_id, place
    on conflict (task_id, field) do nothing`.execute(tx)
  await sql`update tasks set open_intents = null where id in (select id from (${locked}) as meant)`.execute(
    tx,
  )
}
