import { sql } from 'kysely'
import { checkpointWhenLong } from './checkpoint.ts'
import { withCompressedLog } from './compressed-log.ts'
import type { OpenDatabase } from './database.ts'

/** As autovacuum has it: a table with so many dead rows, and with a fifth as many dead as alive. */
const minDead = 2_000
const deadShare = 0.2
/** The log of a smaller table is short anyway. */
const compressedFromBytes = 64 * 1_024 * 1_024
/**
 * A scan fills these, and a night changes them from their beginning. A vacuum soon after it notes which pages have no old row, while they
 * are in memory; the next reads only those that were changed. Without it that one read all pages when they had long been
 * compressed: 4.3 seconds for the tasks of 100,000 records.
 */
const filledAtOnce = ['tasks', 'lookups']

/**
 * Frees the room of old row versions, so that new ones take it. A lookup leaves six of them behind, and PGlite has no autovacuum:
 * its files would grow with every change. A table is due when a fifth of it is dead, so that the whole work stays in proportion to what
 * was written. It takes no lock that readers or writers notice, but PGlite's only connection. A server vacuums by itself.
 */
export async function vacuumTables(
  { db, kind }: Pick<OpenDatabase, 'db' | 'kind'>,
  {
    dead = minDead,
    share = deadShare,
    compressFrom = compressedFromBytes,
  }: { dead?: number; share?: number; compressFrom?: number } = {},
): Promise<string[]> {
  if (kind !== 'pglite') return []
  // Changes are counted when they are reported, else a second late.
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ name: string; bytes: number }>`
    select relname as name, pg_table_size(relid)::float8 as bytes from pg_stat_user_tables
    where schemaname = 'public' and (n_dead_tup >= ${dead} and n_dead_tup >= ${share}::float8 * n_live_tup
      or relname in (${sql.join(filledAtOnce)}) and n_ins_since_vacuum >= ${dead}
        and n_ins_since_vacuum >= ${share}::float8 * n_live_tup)
    order by relname`.execute(db)
  // One statement each, so that others have the connection in between.
  for (const { name, bytes } of rows) {
    const vacuum = () => sql`vacuum ${sql.table(name)}`.execute(db)
    await (bytes >= compressFrom ? withCompressedLog(db, vacuum) : vacuum())
    await checkpointWhenLong({ db, kind })
  }
  return rows.map(({ name }) => name)
}
