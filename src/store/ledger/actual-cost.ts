import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Currency } from '../../domain/payment.ts'
import type { Tables } from '../database/tables/schema.ts'

/**
 * Corrects a charge and its budget to what the service says that the answer cost, and returns the amount that counts. A
 * charge in credits reserves the highest price of its request. A payment on a chain keeps its amount, because that amount
 * was transferred.
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

/** Adds an amount to budget lines. */
export async function moveBudget(
  tx: Transaction<Tables>,
  scopes: readonly string[],
  byAtomic: bigint,
): Promise<void> {
  await movingBudgets(new Map(scopes.map((scope) => [scope, byAtomic]))).execute(tx)
}

/** Adds an amount to each budget line. Locks them in the order in which `reserve` does, so that two charges cannot deadlock. */
export function movingBudgets(byScope: ReadonlyMap<string, bigint>): RawBuilder<unknown> {
  const moves = [...byScope].map(([scope, byAtomic]) => ({ scope, by: String(byAtomic) }))
  return sql`
    with moves as (select * from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as move (scope text, by bigint)),
      locked as (select scope from budgets where scope in (select scope from moves) order by scope collate "C" for update)
    update budgets set committed_atomic = committed_atomic + moves.by
    from moves join locked using (scope) where budgets.scope = locked.scope`
}
