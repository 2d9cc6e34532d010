import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

/** What came of holding the ledger against the chain, as it was found at that time. */
export interface KeptReconciliation {
  at: Date
  differenceAtomic: Atomic
  /** Transfers or charges on which the two do not agree. */
  differences: number
  inDoubtAtomic: Atomic
}

export async function saveReconciliation(
  db: Database,
  result: KeptReconciliation,
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

export async function lastReconciliation(db: Database): Promise<KeptReconciliation | undefined> {
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
