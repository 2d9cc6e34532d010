import { PostgresAdapter, sql, type Kysely, type QueryExecutor } from 'kysely'

/** The migration after which a program reads packed rows. */
export const packedRows = '0043-packed-rows'

/**
 * Knows which ledger is behind a connection. A transaction has the adapter of its database, so whoever stores a row
 * needs nothing else to know the form that it takes.
 */
export class LedgerAdapter extends PostgresAdapter {
  /** No program runs on this ledger that cannot read packed rows. */
  packsRows = false
}

/** A database or a transaction. */
export interface Connected {
  getExecutor(): QueryExecutor
}

export function packsRows(db: Connected): boolean {
  const { adapter } = db.getExecutor()
  return adapter instanceof LedgerAdapter && adapter.packsRows
}

/** Looks up in which form rows are stored. It never goes back, so a program that has looked keeps to what it has found. */
export async function noteForm<T>(db: Kysely<T>): Promise<void> {
  const { adapter } = db.getExecutor()
  if (!(adapter instanceof LedgerAdapter)) return
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('schema_changes') is not null as there`.execute(db)
  if (!found[0]?.there) return
  const { rows } = await sql`
    select from schema_changes where name = ${packedRows} and oldest_program is not null`.execute(db)
  adapter.packsRows = rows.length > 0
}
