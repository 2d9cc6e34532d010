import { sql } from 'kysely'
import type { Database } from './database.ts'

/**
 * Runs a statement that changes most pages of a table or an index of an embedded ledger, with the pages compressed in the log: there
 * each of them stands in full that has not changed since the last checkpoint, and none can be taken before the statement has ended.
 * Not for all statements, as it costs processor time.
 */
export async function withCompressedLog<T>(db: Database, run: () => Promise<T>): Promise<T> {
  await sql`set wal_compression = pglz`.execute(db)
  try {
    return await run()
  } finally {
    await sql`reset wal_compression`.execute(db)
  }
}
