import { sql } from 'kysely'
import type { OpenDatabase } from './database.ts'

/** About what twenty thousand paid records write. By the time the checkpoint is taken, as much again may have come. */
const maxWalBytes = 192 * 1_024 * 1_024

/**
 * Takes a checkpoint when the write-ahead log of PGlite is long. PGlite has no checkpointer process, so its log would grow
 * until it is closed, by nine gigabytes over a million records, and a crash would replay all of it. A server takes its own
 * checkpoints.
 */
export async function checkpointWhenLong(
  { db, kind }: Pick<OpenDatabase, 'db' | 'kind'>,
  maxBytes = maxWalBytes,
): Promise<void> {
  if (kind !== 'pglite') return
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  if ((rows[0]?.bytes ?? 0) > maxBytes) await sql`checkpoint`.execute(db)
}
