import { sql, type RawBuilder } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue } from '../../domain/record.ts'
import { storableJson } from '../database/parameters.ts'
import type { StoredIntent } from './open-intents.ts'

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
export interface OwnBefore {
  taskId: bigint
  recordId: string
  values: Readonly<Record<string, FieldValue>>
}

/**
 * Stores in the rows of tasks what is about to be written, and the values of our own fields before it. A repeated attempt keeps
 * the intents of the one before. The row's lock waits for an erasure that is under way; a task that was forgotten meanwhile has
 * its record no more, and stores nothing. Nor does one that has ended: nobody would confirm it. Locked in the order of their ids, as by
 * everybody who locks several.
 */
export function storeOpenIntents(
  { intents, own }: { intents: readonly Intent[]; own: readonly OwnBefore[] },
  at: Date,
): RawBuilder<unknown> {
  const fields = Map.groupBy(intents, ({ taskId }) => taskId)
  const before = new Map(own.map((each) => [each.taskId, each]))
  const ids = [...new Set([...before.keys(), ...fields.keys()])]
  const rows = ids.map((id) => ({
    id: String(id),
    record: before.get(id)?.recordId ?? fields.get(id)?.[0]?.recordId,
    own: before.get(id)?.values,
    intents: fields.get(id)?.map((intent) => storedForm(intent, at)),
  }))
  return sql`
    with locked as materialized (
      select id from tasks where id = any(${ids.map(String)}::bigint[]) order by id for no key update
    )
    update tasks set
      own_before = case when tasks.status not in ('skipped', 'rejected') then coalesce(own_before, given.own) else own_before end,
      open_intents = case when tasks.status in ('written', 'unchanged', 'skipped', 'rejected') then open_intents
        when open_intents is null then given.intents else open_intents || (
        select coalesce(jsonb_agg(intent), '[]') from jsonb_array_elements(given.intents) as intent
        where intent ->> 'field' not in (select stored ->> 'field' from jsonb_array_elements(open_intents) as stored)) end
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given (id bigint, record text, own jsonb, intents jsonb)
    -- Counted, so that all are locked first, and not joined: each of a hundred was compared with each.
    where tasks.id = given.id and tasks.record_id = given.record and (select count(*) from locked) > 0`
}

function storedForm(intent: Intent, at: Date): StoredIntent {
  return {
    field: intent.field,
    ...(intent.old === null ? {} : { old: intent.old }),
    ...(intent.oldRaw === undefined ? {} : { raw: intent.oldRaw }),
    new: intent.new,
    ...(intent.lookupKey === null ? {} : { key: intent.lookupKey }),
    rule: intent.rule,
    mapping: intent.mapping,
    at: at.toISOString(),
  }
}
