import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import type { FieldWriteState, Tables } from '../database/schema.ts'
import { finishTasks, type TaskResult } from '../runs/ready-tasks.ts'

export interface Intent {
  taskId: bigint
  runId: string
  recordId: string
  field: string
  old: FieldValue | null
  /** What the CRM held to the byte; absent where it held nothing. */
  oldRaw?: FieldValue
  /** As the record will show it. */
  new: FieldValue
  lookupKey: LookupKey | null
  rule: string
  /** A digest of where the field goes. */
  mapping: string
}

/** What stood in our own fields of a record before a task wrote to it; blank ones are left out. */
interface OwnBefore {
  taskId: bigint
  values: Readonly<Record<string, FieldValue>>
}

/** A field that a task meant to write when its process died: it may stand in the record or not. */
export interface OpenIntent {
  taskId: bigint
  field: string
  old: FieldValue | null
  new: FieldValue | null
}

/** A value that was found not to belong into a field: it was put back by an undo, or the CRM refused it. */
export interface BlockedValue {
  field: string
  value: FieldValue
  why: 'undone' | 'rejected'
  rule: string | null
  mapping: string | null
  code: string | null
}

export interface WriteHistory {
  /** By record: the value of each field that we wrote last and did not undo. */
  ours: Map<string, Record<string, FieldValue>>
  /** By task. */
  open: Map<bigint, OpenIntent[]>
  /** By record. */
  blocked: Map<string, BlockedValue[]>
}

/** A CRM's own rules change without a word to us: so long its refusal is taken for its answer. */
const refusalKeptMs = 30 * 86_400_000

/** What became of a task's intents. Those that are in neither list were never sent, and are taken back. */
export interface TaskOutcome extends TaskResult {
  written: readonly string[]
  /** Somebody changed the field between our attempts: whether ours came to pass cannot be told. */
  unknown: readonly string[]
  /** Sent, and refused by the CRM. */
  rejected?: readonly { field: string; code: string }[]
}

export interface FieldWrite {
  id: bigint
  taskId: bigint
  runId: string
  connector: string
  entity: string
  recordId: string
  field: string
  old: FieldValue | null
  /** What the CRM held to the byte; absent where it held nothing, and in rows of earlier versions. */
  oldRaw?: FieldValue
  new: FieldValue | null
  lookupKey: LookupKey | null
  priceAtomic: Atomic
  currency: Currency | null
  state: FieldWriteState
  writtenAt: Date | null
  undoneAt: Date | null
}

/**
 *     (nothing) ──intend──▶ intended ──settle──▶ written ──▶ superseded (by a later write) or undone
 *                                       └──────▶ rejected (by the CRM)
 *
 * - before `intend` commits: nothing was sent to the CRM.
 * - after `intend`, before `settle`: the CRM may or may not have taken the write. The task is still ready and comes
 *   again; its intents keep the values that stood there before the first attempt, whatever is read now.
 * - `settle` ends the task and confirms its fields in one transaction, so that no write is counted twice or not at all.
 */
export interface FieldWriteLedger {
  history(
    connector: string,
    entity: string,
    records: readonly string[],
    taskIds: readonly bigint[],
  ): Promise<WriteHistory>
  /** Of a repeated attempt nothing is stored anew: what stood there before the first one is what was replaced. */
  intend(
    connector: string,
    entity: string,
    intents: readonly Intent[],
    own?: readonly OwnBefore[],
  ): Promise<void>
  confirmWrites(results: readonly TaskOutcome[]): Promise<void>
  ofRecord(connector: string, entities: readonly string[], recordId: string): Promise<FieldWrite[]>
  /** Records of a run in which something may be put back, by id, in pages. */
  recordsOf(runId: string, afterRecord: string, limit: number): Promise<string[]>
  ofRun(runId: string, records: readonly string[], field?: string): Promise<FieldWrite[]>
  /** By record: what stood in our own fields before the run wrote to it, where that is known. */
  ownBefore(runId: string, records: readonly string[]): Promise<Map<string, Record<string, FieldValue>>>
  /** By record: the writes that count as ours, of whatever run. */
  standing(
    connector: string,
    entity: string,
    records: readonly string[],
  ): Promise<Map<string, { id: bigint; taskId: bigint; runId: string }[]>>
  /** The fields stand as they stood before: what they had replaced of ours counts as ours again. */
  markUndone(ids: readonly bigint[]): Promise<void>
}

export function createFieldWriteLedger(db: Database, { now }: { now: () => Date }): FieldWriteLedger {
  return {
    async history(connector, entity, records, taskIds) {
      if (records.length === 0) return { ours: new Map(), open: new Map(), blocked: new Map() }
      const rows = await db
        .selectFrom('field_writes')
        .selectAll()
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where(isOneOf('record_id', records))
        .where('state', '!=', 'superseded')
        .orderBy('id')
        .execute()
      const ours = new Map<string, Record<string, FieldValue>>()
      const open = new Map<bigint, OpenIntent[]>()
      const setAside = new Map<string, BlockedValue[]>()
      const asked = new Set(taskIds)
      for (const row of rows) {
        const { field, new_value: value, state } = row
        if (state === 'intended') {
          if (!asked.has(row.task_id)) continue
          const intent = { taskId: row.task_id, field, old: row.old_value, new: value }
          open.set(row.task_id, [...(open.get(row.task_id) ?? []), intent])
          continue
        }
        if (state === 'written' && value !== null)
          ours.set(row.record_id, { ...ours.get(row.record_id), [field]: value })
        const aside = asideOf(row)
        const isOver = state === 'rejected' && now().getTime() - row.intended_at.getTime() > refusalKeptMs
        if (aside && !isOver) setAside.set(row.record_id, [...(setAside.get(row.record_id) ?? []), aside])
      }
      return { ours, open, blocked: setAside }
    },

    async intend(connector, entity, intents, own = []) {
      const intendedAt = now()
      for (const page of pages(own, 500)) {
        const rows = JSON.stringify(page.map(({ taskId, values }) => ({ id: String(taskId), values })))
        await sql`
          update tasks set own_before = before.values
          from jsonb_to_recordset(${rows}::jsonb) as before (id bigint, values jsonb)
          where tasks.id = before.id and own_before is null`.execute(db)
      }
      for (const page of pages(intents, 1_000)) {
        // Values as text: whether a field held null or nobody knows what it held is not the same.
        const rows = page.map((intent) => ({
          task_id: String(intent.taskId),
          run_id: intent.runId,
          record_id: intent.recordId,
          field: intent.field,
          old_value: intent.old === null ? null : JSON.stringify(intent.old),
          old_raw: intent.oldRaw === undefined ? null : JSON.stringify(intent.oldRaw),
          new_value: JSON.stringify(intent.new),
          lookup_key: intent.lookupKey,
          rule: intent.rule,
          mapping: intent.mapping,
        }))
        // A repeated attempt: what stood there before the first one is what was replaced.
        await sql`
          insert into field_writes (task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value,
            lookup_key, rule, mapping, state, intended_at)
          select task_id, run_id, ${connector}, ${entity}, record_id, field, old_value::jsonb, old_raw::jsonb,
            new_value::jsonb, lookup_key, rule, mapping, 'intended', ${intendedAt}::timestamptz
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as intent (task_id bigint, run_id text, record_id text, field text, old_value text, old_raw text,
              new_value text, lookup_key text, rule text, mapping text)
          on conflict (task_id, field) do nothing`.execute(db)
      }
    },

    async confirmWrites(results) {
      for (const page of pages(results, 500)) {
        await db.transaction().execute(async (tx) => {
          await finishTasks(tx, page, now())
          await settleWrites(tx, page, now())
        })
      }
    },

    async ofRecord(connector, entities, recordId) {
      const rows = await db
        .selectFrom('field_writes')
        .selectAll()
        .where('connector', '=', connector)
        .where('entity', 'in', [...entities])
        .where('record_id', '=', recordId)
        .orderBy('id')
        .execute()
      return rows.map(toFieldWrite)
    },

    async recordsOf(runId, afterRecord, limit) {
      const rows = await db
        .selectFrom('field_writes')
        .select('record_id')
        .distinct()
        .where('run_id', '=', runId)
        .where('record_id', '>', afterRecord)
        .where('state', 'not in', ['undone', 'rejected'])
        .orderBy('record_id')
        .limit(limit)
        .execute()
      return rows.map((row) => row.record_id)
    },

    async ofRun(runId, records, field) {
      if (records.length === 0) return []
      let query = db
        .selectFrom('field_writes')
        .selectAll()
        .where('run_id', '=', runId)
        .where(isOneOf('record_id', records))
        .where('state', 'not in', ['undone', 'rejected'])
        .orderBy('id')
      if (field !== undefined) query = query.where('field', '=', field)
      return (await query.execute()).map(toFieldWrite)
    },

    async ownBefore(runId, records) {
      if (records.length === 0) return new Map()
      const rows = await db
        .selectFrom('tasks')
        .select(['record_id', 'own_before'])
        .where('run_id', '=', runId)
        .where(isOneOf('record_id', records))
        .orderBy('id')
        .execute()
      // Of two tasks for one record the first one has seen what was there before the run: it is entered last.
      return new Map(
        rows
          .toReversed()
          .flatMap((row) => (row.own_before === null ? [] : [[row.record_id, row.own_before] as const])),
      )
    },

    async standing(connector, entity, records) {
      if (records.length === 0) return new Map()
      const rows = await db
        .selectFrom('field_writes')
        .select(['id', 'task_id', 'run_id', 'record_id'])
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where(isOneOf('record_id', records))
        .where('state', '=', 'written')
        .execute()
      return Map.groupBy(
        rows.map((row) => ({ id: row.id, taskId: row.task_id, runId: row.run_id, recordId: row.record_id })),
        ({ recordId }) => recordId,
      )
    },

    async markUndone(ids) {
      if (ids.length === 0) return
      await db.transaction().execute(async (tx) => {
        const undone = await tx
          .updateTable('field_writes')
          .set({ state: 'undone', undone_at: now() })
          .where('id', 'in', [...ids])
          .where('state', 'in', ['written', 'intended'])
          .returning('id')
          .execute()
        if (undone.length === 0) return
        await tx
          .updateTable('field_writes')
          .set({ state: 'written', superseded_by: null })
          .where(
            'superseded_by',
            'in',
            undone.map(({ id }) => id),
          )
          .where('state', '=', 'superseded')
          .execute()
      })
    },
  }
}

async function settleWrites(
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
  await sql`
    delete from field_writes where task_id = any(${ids}::bigint[]) and state = 'intended' and not exists (
      select 1 from jsonb_to_recordset(${written}::jsonb || ${JSON.stringify(unknown)}::jsonb) as sent (id bigint, field text)
      where sent.id = field_writes.task_id and sent.field = field_writes.field)`.execute(tx)
  if (unknown.length > 0) {
    await sql`
      update field_writes set state = 'superseded'
      from jsonb_to_recordset(${JSON.stringify(unknown)}::jsonb) as lost (id bigint, field text)
      where task_id = lost.id and field_writes.field = lost.field and state = 'intended'`.execute(tx)
  }
  // First the old value steps down, then the new one counts: of both at most one is ours at any moment.
  await sql`
    update field_writes as old set state = 'superseded', superseded_by = new.id
    from field_writes as new
      join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on sent.id = new.task_id and sent.field = new.field
    where new.state = 'intended' and old.state = 'written' and old.connector = new.connector
      and old.entity = new.entity and old.record_id = new.record_id and old.field = new.field`.execute(tx)
  await countAsWritten(tx, written, at)
}

/**
 * Each written field bears its part of the price: what its lookup has cost, less what earlier writes already bear, in equal
 * parts over the fields that it fills now; what does not divide goes to the first ones. The parts of a lookup never add up to
 * more than was paid for it. `written` is JSON: task and field.
 */
async function countAsWritten(tx: Transaction<Tables>, written: string, at: Date): Promise<void> {
  // Of two batches that a lookup serves the second sees what the first has taken: so this is a statement of its own.
  const { rows } = await sql<{ key: LookupKey }>`
    select key from lookups where key in (
      select lookup_key from field_writes
        join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
          on task_id = sent.id and field_writes.field = sent.field
      where state = 'intended')
    order by key collate "C" for no key update`.execute(tx)
  const keys = rows.map(({ key }) => key)
  await sql`
    with mine as (
      select field_writes.id, lookup_key, count(*) over (partition by lookup_key) as parts,
        row_number() over (partition by lookup_key order by field_writes.id) as place
      from field_writes join jsonb_to_recordset(${written}::jsonb) as sent (id bigint, field text)
        on task_id = sent.id and field_writes.field = sent.field
      where state = 'intended'
    ), paid as (
      select lookup_key, max(currency) as currency, sum(amount_atomic) as amount from charge_shares
      where lookup_key = any(${keys}::text[]) and state = 'settled' group by lookup_key
    ), taken as (
      select lookup_key, sum(price_atomic) as amount from field_writes
      where lookup_key = any(${keys}::text[]) group by lookup_key
    ), rest as (
      select paid.lookup_key, currency, greatest(paid.amount - coalesce(taken.amount, 0), 0)::bigint as amount
      from paid left join taken using (lookup_key)
    ), priced as (
      select mine.id, rest.currency, rest.amount / parts + case when place <= rest.amount % parts then 1 else 0 end as price
      from mine left join rest using (lookup_key)
    )
    update field_writes set state = 'written', written_at = ${at}, currency = coalesce(priced.currency, field_writes.currency),
      price_atomic = coalesce(priced.price, price_atomic)
    from priced where field_writes.id = priced.id and field_writes.state = 'intended'`.execute(tx)
}

function asideOf(row: {
  field: string
  new_value: FieldValue | null
  state: FieldWriteState
  rule: string | null
  mapping: string | null
  code: string | null
}): BlockedValue | undefined {
  const { field, new_value: value, state, rule, mapping, code } = row
  if (value === null || (state !== 'undone' && state !== 'rejected')) return undefined
  return { field, value, why: state, rule, mapping, code }
}

function toFieldWrite(row: {
  id: bigint
  task_id: bigint
  run_id: string
  connector: string
  entity: string
  record_id: string
  field: string
  old_value: FieldValue | null
  old_raw: FieldValue | null
  new_value: FieldValue | null
  lookup_key: LookupKey | null
  price_atomic: bigint
  currency: Currency | null
  state: FieldWriteState
  written_at: Date | null
  undone_at: Date | null
}): FieldWrite {
  return {
    id: row.id,
    taskId: row.task_id,
    runId: row.run_id,
    connector: row.connector,
    entity: row.entity,
    recordId: row.record_id,
    field: row.field,
    old: row.old_value,
    ...(row.old_raw === null ? {} : { oldRaw: row.old_raw }),
    new: row.new_value,
    lookupKey: row.lookup_key,
    priceAtomic: row.price_atomic,
    currency: row.currency,
    state: row.state,
    writtenAt: row.written_at,
    undoneAt: row.undone_at,
  }
}
