import { sql, type RawBuilder } from 'kysely'
import { clearedValue, type BlockedValue } from '../../domain/field-policy/blocked-values.ts'
import type { OpenIntent } from '../../domain/field-policy/write-decision.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import { inOneTrip } from '../database/postgres/one-trip.ts'
import type { FieldWriteState } from '../database/tables/states.ts'
import { createMergedRecords } from '../runs/merged-records.ts'

export interface Intent {
  taskId: bigint
  runId: string
  recordId: string
  field: string
  old: FieldValue | null
  /** The old value exactly as the CRM held it; undefined when the field was blank. */
  oldRaw?: FieldValue | undefined
  /** The value as the record will show it; `clearedValue` where the field is cleared. */
  new: FieldValue
  lookupKey: LookupKey | null
  rule: string
  /** A digest of the field's mapping. */
  mapping: string
}

/** The values of our own fields of a record before a task wrote to it, without the blank ones. */
interface OwnBefore {
  taskId: bigint
  values: Readonly<Record<string, FieldValue>>
}

export interface WriteHistory {
  /**
   * By record: the value that we last wrote into each field, `clearedValue` where we cleared it last, unless it was undone; also
   * before it was merged.
   */
  ours: Map<string, Record<string, FieldValue>>
  /** By task. */
  open: Map<bigint, OpenIntent[]>
  /** By record. */
  blocked: Map<string, BlockedValue[]>
  /** By record: the fields whose last write was undone. */
  undone: Map<string, BlockedValue[]>
  /** By record: each value that we wrote, or that any task was about to write. */
  wrote: Map<string, WroteValue[]>
}

export interface WroteValue {
  field: string
  value: FieldValue
}

/** A CRM's rules can change without notice, so a refusal blocks its value for this long only. */
const refusalBlocksMs = 30 * 86_400_000

/** The ledger's side of a write before it is sent: it returns the fields' history, and stores the intent. */
export interface WriteIntents {
  history(
    connector: string,
    entity: string,
    records: readonly string[],
    taskIds: readonly bigint[],
  ): Promise<WriteHistory>
  /** Stores what is about to be written. A repeated attempt stores nothing: it keeps the values from before the first one. */
  intend(
    connector: string,
    entity: string,
    intents: readonly Intent[],
    own?: readonly OwnBefore[],
  ): Promise<void>
}

/** The tasks, and the intents, that one statement or transaction is for. */
export interface WritePages {
  tasks: number
  intents: number
}

export function createWriteIntents(
  db: Database,
  { now, pages: size }: { now: () => Date; pages: WritePages },
): WriteIntents {
  return {
    async history(connector, entity, records, taskIds) {
      if (records.length === 0)
        return { ours: new Map(), open: new Map(), blocked: new Map(), undone: new Map(), wrote: new Map() }
      const writesInto = (ids: readonly string[]) =>
        db
          .selectFrom('field_writes')
          .selectAll()
          .where('connector', '=', connector)
          .where('entity', '=', entity)
          .where(isOneOf('record_id', ids))
          .where('state', '!=', 'superseded')
          .orderBy('id')
          .execute()
      const merged = createMergedRecords(db, { now }).earlierIds(connector, [entity], records)
      // Hardly a record is a merged one: what was written into the others is asked for beside the question which are.
      const [earlier, ofThese] = await Promise.all([merged, writesInto(records)])
      const names = new Map(records.map((id) => [id, [id]]))
      for (const [id, ids] of earlier)
        for (const before of ids) names.set(before, [...(names.get(before) ?? []), id])
      const rows = earlier.size > 0 ? await writesInto([...names.keys()]) : ofThese
      const ours = new Map<string, Record<string, FieldValue>>()
      const open = new Map<bigint, OpenIntent[]>()
      const blocked = new Map<string, BlockedValue[]>()
      const undone = new Map<string, BlockedValue[]>()
      const wrote = new Map<string, WroteValue[]>()
      const asked = new Set(taskIds)
      for (const row of rows) {
        const { field, new_value: value, state } = row
        if (value !== null && value !== clearedValue && (state === 'intended' || state === 'written'))
          for (const record of names.get(row.record_id) ?? [])
            wrote.set(record, [...(wrote.get(record) ?? []), { field, value }])
        if (state === 'intended') {
          if (!asked.has(row.task_id)) continue
          const intent = { taskId: row.task_id, field, old: row.old_value, new: value }
          open.set(row.task_id, [...(open.get(row.task_id) ?? []), intent])
          continue
        }
        const blockedValue = blockedValueOf(row)
        const isOver = state === 'rejected' && now().getTime() - row.intended_at.getTime() > refusalBlocksMs
        for (const record of names.get(row.record_id) ?? []) {
          if (state === 'written' && value !== null) ours.set(record, { ...ours.get(record), [field]: value })
          const others = (undone.get(record) ?? []).filter((each) => each.field !== field)
          undone.set(record, state === 'undone' && blockedValue ? [...others, blockedValue] : others)
          if (blockedValue && !isOver) blocked.set(record, [...(blocked.get(record) ?? []), blockedValue])
        }
      }
      return { ours, open, blocked, undone, wrote }
    },

    async intend(connector, entity, intents, own = []) {
      const statements = intentsOf(connector, entity, { intents, own })
      // Those of a press: each commits by itself. Where one fails nothing is written, and the next try stores what is missing.
      if (own.length <= size.tasks && intents.length <= size.intents) await inOneTrip(db, ...statements)
      else for (const statement of statements) await statement.execute(db)
    },
  }

  function* intentsOf(
    connector: string,
    entity: string,
    { intents, own }: { intents: readonly Intent[]; own: readonly OwnBefore[] },
  ): Generator<RawBuilder<unknown>> {
    const intendedAt = now()
    for (const page of pages(own, size.tasks)) {
      const rows = JSON.stringify(page.map(({ taskId, values }) => ({ id: String(taskId), values })))
      yield sql`
        update tasks set own_before = before.values
        from jsonb_to_recordset(${rows}::jsonb) as before (id bigint, values jsonb)
        where tasks.id = before.id and own_before is null and tasks.status not in ('skipped', 'rejected')`
    }
    for (const page of pages(intents, size.intents)) {
      // Values go as text, to keep a field that held null apart from one whose value is unknown.
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
      // A repeated attempt stores nothing: the value before the first attempt is the one that was replaced.
      yield sql`
        insert into field_writes (task_id, run_id, connector, entity, record_id, field, old_value, old_raw, new_value,
          lookup_key, rule, mapping, state, intended_at)
        select task_id, intent.run_id, ${connector}, ${entity}, intent.record_id, field, old_value::jsonb,
          old_raw::jsonb, new_value::jsonb, intent.lookup_key, rule, mapping, 'intended', ${intendedAt}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as intent (task_id bigint, run_id text, record_id text, field text, old_value text, old_raw text,
            new_value text, lookup_key text, rule text, mapping text)
          -- A task that was forgotten meanwhile has no record any more. The lock waits for an erasure that is under way: an
          -- intent that was stored beside it would keep the value.
          join tasks on tasks.id = intent.task_id and tasks.record_id = intent.record_id
        order by tasks.id for share of tasks
        on conflict (task_id, field) do nothing`
    }
  }
}

function blockedValueOf(row: {
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
