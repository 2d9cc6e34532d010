import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

/** The result of one comparison of the ledger with the chain. */
export interface SavedReconciliation {
  at: Date
  differenceAtomic: Atomic
  /** The number of transfers and charges on which the two disagree. */
  differences: number
  inDoubtAtomic: Atomic
}

export async function saveReconciliation(
  db: Database,
  result: SavedReconciliation,
  document: object,
): Promise<void> {
  await db
    .insertInto('reconciliations')
    .values({
      at: result.at,
      difference_atomic: result.differenceAtomic,
      differences: result.differences,
      in_doubt_atomic: result.inDoubtAtomic,
      document: JSON.stringify(document),
    })
    .execute()
}

export async function lastReconciliation(db: Database): Promise<SavedReconciliation | undefined> {
  const row = await db
    .selectFrom('reconciliations')
    .selectAll()
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (
    row && {
      at: row.at,
      differenceAtomic: row.difference_atomic,
      differences: row.differences,
      inDoubtAtomic: row.in_doubt_atomic,
    }
  )
}
