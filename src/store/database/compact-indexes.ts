import { sql } from 'kysely'
import { withCompressedLog } from './compressed-log.ts'
import type { Database, OpenDatabase } from './database.ts'
import { keepSmall } from './keep-small.ts'

/** The changes of each table up to when its indexes were written anew. PGlite counts from zero at each start, and so does this. */
const compactedAt = new WeakMap<Database, Map<string, number>>()
/** Each index is in the log too, beside its new file and what is sorted for it. */
const restingWalBytes = 32 * 1_024 * 1_024
/** With fewer changes than this there is nothing to gain. */
const leastChanges = 10_000

interface Changed {
  name: string
  changes: number
  alive: number
}

/**
 * Writes the indexes of tables anew of which as many rows have changed as are alive: rows that come in the order of a file, and
 * a new entry for each change of a row, leave their pages half empty, and PGlite's files keep what they have once taken. Returns
 * the bytes that this has freed. The work stays in proportion to what was written. It is for the end of a command: each index
 * takes the only connection for seconds in a million rows.
 *
 * Crash windows: an index is replaced in one transaction. Killed before its commit, the old one is in use, and files of the new
 * one may be left; killed between two, the rest waits for as many changes again.
 */
export async function compactIndexes(
  database: Pick<OpenDatabase, 'db' | 'kind' | 'pages'>,
  { signal, least = leastChanges }: { signal?: AbortSignal; least?: number } = {},
): Promise<number> {
  const { db, kind } = database
  if (kind !== 'pglite') return 0
  const noted = compactedAt.get(db) ?? new Map<string, number>()
  compactedAt.set(db, noted)
  const tables = (await changedTables(database)).filter(
    ({ name, changes, alive }) => changes - (noted.get(name) ?? 0) >= Math.max(least, alive),
  )
  let freed = 0
  for (const { name, changes } of tables) {
    for (const index of await indexesOf(database, name)) {
      if (signal?.aborted) return freed
      freed += await reindex(database, index)
      await keepSmall(database, restingWalBytes)
    }
    noted.set(name, changes)
  }
  return freed
}

/** Returns the bytes that this has freed. */
async function reindex(database: Pick<OpenDatabase, 'db'>, index: string): Promise<number> {
  const { db } = database
  const bytes = await bytesOf(database, index)
  await withCompressedLog(db, () => sql`reindex index ${sql.table(index)}`.execute(db))
  return bytes - (await bytesOf(database, index))
}

async function changedTables({ db }: Pick<OpenDatabase, 'db'>): Promise<Changed[]> {
  // Changes are counted when they are reported, else a second late.
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<Changed>`
    select pg_class.relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as changes,
      greatest(n_live_tup, reltuples)::float8 as alive
    from pg_stat_user_tables join pg_class on pg_class.oid = relid where schemaname = 'public' order by 1`.execute(
    db,
  )
  return rows
}

async function indexesOf({ db }: Pick<OpenDatabase, 'db'>, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index where indrelid = to_regclass(${table}) order by 1`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

async function bytesOf({ db }: Pick<OpenDatabase, 'db'>, index: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_relation_size(to_regclass(${index}))::float8 as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
