import type { Transaction } from 'kysely'
import type { Currency } from '../domain/payment.ts'
import type { Tables } from './schema.ts'

/**
 * A charge in credits reserved the most that its request could cost; now the service has said what it did cost, and the
 * budget follows. What was signed on a chain has moved, whatever is said of credits.
 */
export async function settleTruth(
  tx: Transaction<Tables>,
  id: string,
  charge: { currency: Currency; amount_atomic: bigint; budget_scopes: string[] },
  creditsAtomic: bigint | undefined,
): Promise<bigint> {
  const reserved = charge.amount_atomic
  if (charge.currency !== 'credit' || creditsAtomic === undefined || creditsAtomic === reserved)
    return reserved
  await tx.updateTable('charges').set({ amount_atomic: creditsAtomic }).where('id', '=', id).execute()
  await tx
    .updateTable('budgets')
    .set((eb) => ({ committed_atomic: eb('committed_atomic', '+', creditsAtomic - reserved) }))
    .where('scope', 'in', charge.budget_scopes)
    .execute()
  return creditsAtomic
}
