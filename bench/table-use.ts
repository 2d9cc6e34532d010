import { sql } from 'kysely'
import type { Database } from '../src/store/database/database.ts'

/** The size of a table, and the changes of its rows since the database was opened. */
export interface TableUse {
  name: string
  bytes: number
  indexBytes: number
  inserted: number
  updated: number
  /** Updates whose new version stayed in its page, so that no index was touched. */
  hotUpdated: number
  dead: number
}

export async function tableUse(db: Database): Promise<TableUse[]> {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<TableUse>`
    select relname as name, pg_total_relation_size(relid)::float8 as bytes, pg_indexes_size(relid)::float8 as "indexBytes",
      n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as "hotUpdated",
      n_dead_tup::float8 as dead
    from pg_stat_user_tables order by pg_total_relation_size(relid) desc`.execute(db)
  return rows
}
