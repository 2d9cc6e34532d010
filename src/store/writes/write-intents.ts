import { sql, type Selectable } from 'kysely'
import { clearedValue, type BlockedValue } from '../../domain/field-policy/blocked-values.ts'
import type { OpenIntent } from '../../domain/field-policy/write-decision.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { isEmbedded } from '../database/embedded.ts'
import { goesFirst } from '../database/go-first.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import { inOneTransaction, inOneTrip } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'
import type { FieldWriteState } from '../database/tables/states.ts'
import { byId, selectEarlierIds } from '../runs/merged-records.ts'
import { joined, ofRecords, selectOpenIntents } from './open-intents.ts'
import { storeOpenIntents, type Intent, type OwnBefore } from './store-intents.ts'

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
  intend(intents: readonly Intent[], own?: readonly OwnBefore[]): Promise<void>
}

/**
 * The tasks that one statement or transaction is for. On the embedded pair everybody waits for the statement that is running, and for its
 * transaction; on a server it has one of the processors for as long. A hundred records take 40 to 250 ms beside other work.
 */
export const tasksAtOnce = 20
/** On a server, where the records have been read and are about to be written: it is the time in which a person's change is not seen. */
const intentsAtOnce = 500

export function createWriteIntents(db: Database, { now }: { now: () => Date }): WriteIntents {
  return {
    async history(connector, entity, records, taskIds) {
      if (records.length === 0)
        return { ours: new Map(), open: new Map(), blocked: new Map(), undone: new Map(), wrote: new Map() }
      const writesInto = (ids: readonly string[]) =>
        [
          selectOpenIntents(ofRecords(connector, [entity], ids)),
          sql<Selectable<Tables['field_writes']>>`
            select * from field_writes where connector = ${connector} and entity = ${entity}
              and ${isOneOf('record_id', ids)} and state != 'superseded' order by id`,
        ] as const
      // Hardly a record is a merged one: what was written into the others is asked for behind the question which are.
      const all = [...writesInto(records), selectEarlierIds(connector, [entity], records)] as const
      // Those of a press are planned once, as all of its transactions are.
      const isPlannedOnce = goesFirst() && !isEmbedded(db)
      const [unfinished, stored, before] = isPlannedOnce
        ? await inOneTransaction(db, (tx, ending) => inOneTrip(tx, ...all, ...ending))
        : await inOneTrip(db, ...all)
      const earlier = byId(before.rows)
      const names = new Map(records.map((id) => [id, [id]]))
      for (const [id, ids] of earlier)
        for (const before of ids) names.set(before, [...(names.get(before) ?? []), id])
      const [unfinishedOfAll, ofAll] =
        earlier.size > 0 ? await inOneTrip(db, ...writesInto([...names.keys()])) : [unfinished, stored]
      const rows = joined(ofAll.rows, unfinishedOfAll.rows)
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

    async intend(intents, own = []) {
      // A page is whole tasks: what is stored of a task is stored at once.
      const ids = [...new Set([...own, ...intents].map(({ taskId }) => taskId))]
      for (const page of pages(ids, isEmbedded(db) ? tasksAtOnce : intentsAtOnce)) {
        const isOfPage = new Set(page)
        const given = {
          intents: intents.filter(({ taskId }) => isOfPage.has(taskId)),
          own: own.filter(({ taskId }) => isOfPage.has(taskId)),
        }
        await storeOpenIntents(given, now()).execute(db)
      }
    },
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
