import type { OpenDatabase } from '../../src/store/database/database.ts'

export interface Ledger {
  database: OpenDatabase
  close(): Promise<void>
}

/** Ledgers of the present test file that were given back, emptied. To empty one costs a tenth of opening another. */
export const idleLedgers: Ledger[] = []
