import { sql, type Selectable } from 'kysely'
import { newPart, type ListPart } from '../../domain/lists/list-parts.ts'
import type { Database } from '../database/database.ts'
import type { FetchEnding, ListTables } from '../database/tables/identity-tables.ts'

/** A fetch of a list: a snapshot of its rows, by parts. */
export interface ListFetch {
  id: string
  list: string
  rules: string
  /** Its pages are bought though the ledger has them. */
  isAgain: boolean
  startedAt: Date
  endedAt: Date | null
  ending: FetchEnding | null
  /** The end of the freshness of the page that stays fresh longest. Null: it has no page. */
  freshUntil: Date | null
  /** The rows that came, and those that are kept. */
  arrived: number
  stored: number
  /** The rows that were not kept, by verdict. */
  dropped: Readonly<Record<string, number>>
  parts: ListPart[]
}

export interface ListFetches {
  /** Returns the newest fetch of a list, under whatever rules. */
  latest(list: string): Promise<ListFetch | undefined>
  /** Returns the newest fetches of a list under whatever rules that have ended with all their rows. */
  finished(list: string, limit: number): Promise<ListFetch[]>
  /**
   * Begins a fetch, unless the newest one is one that goes on. One that was open ends as replaced. Of two processes that begin at once
   * the second goes on with the first one's.
   */
  begin(
    wanted: { list: string; rules: string; isAgain: boolean; parts: readonly string[] },
    goesOn: (latest: ListFetch) => boolean,
  ): Promise<ListFetch>
}

export function createListFetches(db: Database, { now }: { now: () => Date }): ListFetches {
  return {
    latest: (list) => latestFetch(db, list),

    async finished(list, limit) {
      const rows = await db
        .selectFrom('list_fetches')
        .selectAll()
        .where('list', '=', list)
        .where('ending', 'in', ['complete', 'cut'])
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toFetch)
    },

    async begin({ list, rules, isAgain, parts }, goesOn) {
      return db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtext(${`list_fetches ${list}`}))`.execute(tx)
        const latest = await latestFetch(tx, list)
        if (latest && goesOn(latest)) return latest
        await tx
          .updateTable('list_fetches')
          .set({ ended_at: now(), ending: 'replaced' })
          .where('list', '=', list)
          .where('ended_at', 'is', null)
          .execute()
        await deleteOldRows(tx, list)
        const row = await tx
          .insertInto('list_fetches')
          .values({
            list,
            rules,
            is_again: isAgain,
            started_at: now(),
            ended_at: null,
            ending: null,
            fresh_until: null,
            dropped: '{}',
            parts: JSON.stringify(parts.map(newPart)),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        return toFetch(row)
      })
    },
  }
}

async function latestFetch(db: Database, list: string): Promise<ListFetch | undefined> {
  const row = await db
    .selectFrom('list_fetches')
    .selectAll()
    .where('list', '=', list)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toFetch(row)
}

/** Deletes the rows of fetches that nothing compares with any more. Their counts stay. */
async function deleteOldRows(tx: Database, list: string): Promise<void> {
  for (const table of ['list_row_identities', 'list_rows'] as const)
    await sql`
      delete from ${sql.table(table)} where fetch_id in (select id from list_fetches where list = ${list}
        and (ending = 'replaced' or (ended_at is not null and id < (
          select max(id) from list_fetches where list = ${list} and ending in ('complete', 'cut')))))`.execute(
      tx,
    )
}

export function toFetch(row: Selectable<ListTables['list_fetches']>): ListFetch {
  return {
    id: String(row.id),
    list: row.list,
    rules: row.rules,
    isAgain: row.is_again,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    ending: row.ending,
    freshUntil: row.fresh_until,
    arrived: Number(row.arrived),
    stored: Number(row.stored),
    dropped: row.dropped,
    parts: row.parts,
  }
}
