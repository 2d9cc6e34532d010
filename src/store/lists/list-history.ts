import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { RunState } from '../database/tables/states.ts'
import { toFetch, type ListFetch } from './list-fetches.ts'

/** Returns the latest fetches of a list, under whatever rules. */
export async function fetchesOf(db: Database, list: string, limit: number): Promise<ListFetch[]> {
  const rows = await db
    .selectFrom('list_fetches')
    .selectAll()
    .where('list', '=', list)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toFetch)
}

/** A run that made records of a list, with its rows by what became of them. */
export interface ListRun {
  id: string
  state: RunState
  startedAt: Date
  made: number
  exists: number
  /** Rows that were left out or rejected. */
  left: number
  /** Made before, and taken back by an undo. */
  archived: number
}

/** Returns the latest runs that made records of a list. */
export async function runsOfList(db: Database, list: string, limit: number): Promise<ListRun[]> {
  const { rows } = await sql<ListRun>`
    select runs.id, runs.state, runs.started_at as "startedAt",
      (count(*) filter (where made.state = 'created'))::int as made,
      (count(*) filter (where made.state = 'exists'))::int as exists,
      (count(*) filter (where made.state in ('left', 'rejected')))::int as left,
      (count(*) filter (where made.state = 'archived'))::int as archived
    from runs left join created_records as made on made.run_id = runs.id
    where runs.trigger = 'list' and runs.source ->> 'list' = ${list}
    group by runs.id order by runs.started_at desc, runs.id desc limit ${limit}`.execute(db)
  return rows
}
