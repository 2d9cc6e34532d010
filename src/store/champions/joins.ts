import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type { StoredRow } from '../../domain/lists/list-row.ts'
import type { Joined, UnclearJoin } from '../database/tables/champion-tables.ts'
import type { WatchedObject } from './champions.ts'

export type { Joined, UnclearJoin } from '../database/tables/champion-tables.ts'
export type { KnownChampion } from './champions.ts'

/** Notes the records of champions at their new employers, by the record of before. */
export async function saveJoined(
  db: Database,
  { watch, connector, entity }: WatchedObject,
  joined: ReadonlyMap<string, Joined | UnclearJoin>,
): Promise<void> {
  if (joined.size === 0) return
  const rows = [...joined].map(([recordId, value]) => ({ record_id: recordId, value }))
  await sql`
    update champions set joined = given.value
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given (record_id text, value jsonb)
    where watch = ${watch} and connector = ${connector} and entity = ${entity} and champions.record_id = given.record_id`.execute(
    db,
  )
}

/** Returns the rows of champions of whom a person has to say which record they are, in the order of their records. */
export async function unclearJoins(db: Database, watch: string, limit: number): Promise<StoredRow[]> {
  const rows = await db
    .selectFrom('champions')
    .select('joined')
    .where('watch', '=', watch)
    .where(sql<boolean>`joined ->> 'state' = 'unclear'`)
    .orderBy('connector')
    .orderBy('entity')
    .orderBy('record_id')
    .limit(limit)
    .execute()
  return rows.flatMap(({ joined }) => (joined?.state === 'unclear' ? [joined.row] : []))
}

/** Returns the records that a list has made, or found while making them, by their keys. One that was taken back counts as made. */
export async function draftsWithKeys(
  db: Database,
  { list, connector, entity }: { list: string; connector: string; entity: string },
  keys: readonly string[],
): Promise<Map<string, Joined>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .selectFrom('created_records')
    .select(['key', 'state', 'record_id', 'run_id'])
    .where('list', '=', list)
    .where('connector', '=', connector)
    .where('entity', '=', entity)
    .where('key', 'in', [...keys])
    .where('state', 'in', ['created', 'archived', 'exists'])
    .where('record_id', 'is not', null)
    .orderBy('id')
    .execute()
  return new Map(
    rows.map(({ key, state, record_id: recordId, run_id: runId }): [string, Joined] => [
      key,
      state === 'exists'
        ? { state: 'there', recordId: recordId as string }
        : { state: 'made', recordId: recordId as string, runId },
    ]),
  )
}
