import { sql, type Transaction } from 'kysely'
import { paidSums, type PaidSums } from './paid-sums.ts'
import { readSchema } from '../database/migrating/schema-state.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { sequenceStates, tableShapes, type SequenceState, type TableShape } from './table-shapes.ts'

/** The first line of a backup. */
export interface BackupHeader {
  format: 'paydirt-backup'
  version: 1
  madeAt: string
  /** Names of the migrations that the data has. */
  migrations: string[]
  head: LedgerHead
}

/** The state of the accounts at the moment of the backup. */
export interface LedgerHead {
  charges: number
  lastChargeAt: string | null
  paid: PaidSums[]
}

/** A line after the header: a table, followed by its rows as arrays of texts; a sequence. */
export type BackupLine = TableShape | (string | null)[] | SequenceState

const rowsAtOnce = 500

/**
 * Reads the whole ledger as of one moment, line by line: the text of each value, so that nothing is rounded, reordered or
 * converted, and a backup of the embedded database can be restored on a server. Others read and write meanwhile; in the
 * embedded database they wait.
 */
export async function writeBackup(
  db: Database,
  write: (line: BackupHeader | BackupLine) => Promise<void>,
  { madeAt, onTable }: { madeAt: Date; onTable: (table: string, rows: number) => void },
): Promise<{ header: BackupHeader; rows: number }> {
  return db.transaction().execute(async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`set local statement_timeout = 0`.execute(tx)
    // The text of a time depends on them.
    await sql`set local timezone = 'UTC'`.execute(tx)
    await sql`set local datestyle = 'ISO'`.execute(tx)
    const { applied } = await readSchema(tx)
    const header: BackupHeader = {
      format: 'paydirt-backup',
      version: 1,
      madeAt: madeAt.toISOString(),
      migrations: [...applied.keys()].toSorted(),
      head: await ledgerHead(tx),
    }
    await write(header)
    let rows = 0
    for (const shape of await tableShapes(tx)) {
      await write(shape)
      const written = await writeRows(tx, shape, write)
      onTable(shape.table, written)
      rows += written
    }
    for (const sequence of await sequenceStates(tx)) await write(sequence)
    return { header, rows }
  })
}

async function writeRows(
  tx: Transaction<Tables>,
  { table, columns }: TableShape,
  write: (line: (string | null)[]) => Promise<void>,
): Promise<number> {
  const texts = columns.map(({ name }) => sql`${sql.ref(name)}::text`)
  await sql`declare backup no scroll cursor for select json_build_array(${sql.join(texts)}) as row from ${sql.table(table)}`.execute(
    tx,
  )
  let written = 0
  for (;;) {
    const { rows } = await sql<{ row: (string | null)[] }>`fetch ${sql.lit(rowsAtOnce)} from backup`.execute(
      tx,
    )
    for (const { row } of rows) await write(row)
    written += rows.length
    if (rows.length < rowsAtOnce) break
  }
  await sql`close backup`.execute(tx)
  return written
}

export async function ledgerHead(db: Database): Promise<LedgerHead> {
  const { rows } = await sql<{ charges: number; last: Date | null }>`
    select count(*)::int as charges, max(created_at) as last from charges`.execute(db)
  return {
    charges: rows[0]?.charges ?? 0,
    lastChargeAt: rows[0]?.last?.toISOString() ?? null,
    paid: await paidSums(db),
  }
}
