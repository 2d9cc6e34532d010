import { sql } from 'kysely'
import type { OpenDatabase } from './database.ts'

/** As autovacuum has it: a table with so many dead rows, and with a fifth as many dead as alive. */
const minDead = 2_000
const deadShare = 0.2

/**
 * Frees the room of old row versions, so that new ones take it. A lookup leaves six of them behind, and PGlite has no autovacuum:
 * its files would grow with every change. A table is due when a fifth of it is dead, so that the whole work stays in proportion to what
 * was written. It takes no lock that readers or writers notice, but PGlite's only connection. A server vacuums by itself.
 */
export async function vacuumTables(
  { db, kind }: Pick<OpenDatabase, 'db' | 'kind'>,
  { dead = minDead, share = deadShare }: { dead?: number; share?: number } = {},
): Promise<string[]> {
  if (kind !== 'pglite') return []
  // Changes are counted when they are reported, else a second late.
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_stat_user_tables
    where schemaname = 'public' and n_dead_tup >= ${dead} and n_dead_tup >= ${share}::float8 * n_live_tup
    order by relname`.execute(db)
  // One statement each, so that others have the connection in between.
  for (const { name } of rows) await sql`vacuum ${sql.table(name)}`.execute(db)
  return rows.map(({ name }) => name)
}
