import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import type { FieldWriteState } from '../database/tables/states.ts'
import {
  asRows,
  ofRecords,
  ofRun,
  selectOpenIntents,
  unpackIntents,
  withOpenIntents,
} from './open-intents.ts'

export interface FieldWrite {
  /** Zero for an intent that is no row yet. */
  id: bigint
  taskId: bigint
  runId: string
  connector: string
  entity: string
  recordId: string
  field: string
  old: FieldValue | null
  /** The old value exactly as the CRM held it; undefined when the field was blank, and in rows of earlier versions. */
  oldRaw?: FieldValue | undefined
  new: FieldValue | null
  lookupKey: LookupKey | null
  priceAtomic: Atomic
  currency: Currency | null
  state: FieldWriteState
  /** The code with which the CRM, or we before it, left the value out; null for all others. */
  code: string | null
  writtenAt: Date | null
  undoneAt: Date | null
}

/** The writes that were made, for a record's history and for undo. */
export interface WriteRecords {
  /** Returns the writes to a record, under any of its ids. */
  ofRecords(connector: string, entities: readonly string[], ids: readonly string[]): Promise<FieldWrite[]>
  /** Returns what the run was about to write when it was interrupted, or is about to write. */
  openOfRun(runId: string): Promise<FieldWrite[]>
  /** Makes rows of what the run was about to write when it was interrupted, so that it can be undone. */
  unpackIntents(runId: string): Promise<void>
  /** Returns a page of the run's records in which something can be undone, by id. */
  recordsOf(runId: string, afterRecord: string, limit: number): Promise<string[]>
  ofRun(runId: string, records: readonly string[], field?: string): Promise<FieldWrite[]>
  /** Returns, by record, the values of our own fields before the run wrote to it, where they are known. */
  ownBefore(runId: string, records: readonly string[]): Promise<Map<string, Record<string, FieldValue>>>
  /** Returns, by record, the writes whose value counts as ours, of any run. */
  ourWrites(
    connector: string,
    entity: string,
    records: readonly string[],
  ): Promise<Map<string, { id: bigint; taskId: bigint; runId: string }[]>>
  /** Marks writes as undone. Our values that they had replaced count as ours again. */
  markUndone(ids: readonly bigint[]): Promise<void>
}

export function createWriteRecords(db: Database, { now }: { now: () => Date }): WriteRecords {
  return {
    async ofRecords(connector, entities, ids) {
      const readRows = () =>
        db
          .selectFrom('field_writes')
          .selectAll()
          .where('connector', '=', connector)
          .where('entity', 'in', [...entities])
          .where(isOneOf('record_id', ids))
          .orderBy('id')
          .execute()
      return (await withOpenIntents(db, ofRecords(connector, entities, ids), readRows)).map(toFieldWrite)
    },

    async openOfRun(runId) {
      const { rows } = await selectOpenIntents(ofRun(runId)).execute(db)
      return asRows(rows).map(toFieldWrite)
    },

    unpackIntents: (runId) => db.transaction().execute((tx) => unpackIntents(tx, ofRun(runId))),

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
      // The first of two tasks for one record has the values from before the run, so it is entered last.
      return new Map(
        rows
          .toReversed()
          .flatMap((row) => (row.own_before === null ? [] : [[row.record_id, row.own_before] as const])),
      )
    },

    async ourWrites(connector, entity, records) {
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
  code: string | null
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
    oldRaw: row.old_raw ?? undefined,
    new: row.new_value,
    lookupKey: row.lookup_key,
    priceAtomic: row.price_atomic,
    currency: row.currency,
    state: row.state,
    code: row.code,
    writtenAt: row.written_at,
    undoneAt: row.undone_at,
  }
}
