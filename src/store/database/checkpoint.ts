import { sql } from 'kysely'
import type { OpenDatabase } from './database.ts'

/** About what thirty thousand paid records write. */
const mostBytes = 256 * 1_024 * 1_024

/**
 * PGlite has no process that takes checkpoints: its log of changes grows until it is closed, by nine gigabytes over a million
 * records, and all of it is read again after a crash. So one is taken whenever enough has come together. A server takes its own.
 */
export async function checkpointWhenLong(
  { db, kind }: Pick<OpenDatabase, 'db' | 'kind'>,
  most = mostBytes,
): Promise<void> {
  if (kind !== 'pglite') return
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  if ((rows[0]?.bytes ?? 0) > most) await sql`checkpoint`.execute(db)
}
