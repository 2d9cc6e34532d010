import { sql, type Transaction } from 'kysely'
import type { Currency } from '../../domain/payment.ts'
import type { Tables } from '../database/schema.ts'

/**
 * A charge in credits reserved the most that its request could cost; now the service has said what it did cost, and the
 * budget follows. What was signed on a chain has moved, whatever is said of credits.
 */
export async function actualCost(
  tx: Transaction<Tables>,
  id: string,
  charge: { currency: Currency; amount_atomic: bigint; budget_scopes: string[] },
  creditsAtomic: bigint | undefined,
): Promise<bigint> {
  const reserved = charge.amount_atomic
  if (charge.currency !== 'credit' || creditsAtomic === undefined || creditsAtomic === reserved)
    return reserved
  await tx.updateTable('charges').set({ amount_atomic: creditsAtomic }).where('id', '=', id).execute()
  await moveBudget(tx, charge.budget_scopes, creditsAtomic - reserved)
  return creditsAtomic
}

/** Locks the lines in the order in which reserving locks them, or two charges could wait for each other. */
export async function moveBudget(
  tx: Transaction<Tables>,
  scopes: readonly string[],
  byAtomic: bigint,
): Promise<void> {
  await sql`
    with locked as (select scope from budgets where scope = any(${[...scopes]}) order by scope for update)
    update budgets set committed_atomic = committed_atomic + ${byAtomic}::bigint
    from locked where budgets.scope = locked.scope`.execute(tx)
}
