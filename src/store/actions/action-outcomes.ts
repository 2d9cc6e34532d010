import { sql, type Transaction } from 'kysely'
import { endAction, returnToIntent, sentByCommand, type ServiceAction } from '../contract/service-actions.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { indefinitely } from '../database/tables/states.ts'
import { moveBudget } from '../ledger/actual-cost.ts'
import { storeSingles } from '../ledger/answers.ts'

/**
 * A reading of an action in doubt closes the charge of its request too. Both functions are one transaction: killed
 * before its commit, the action is in doubt as before and is read again; after it, there is nothing left to close.
 *
 * Carried out: the request was performed, so it counts as charged with the most that it may cost, because no answer has told
 * the price. Not carried out: a request without an effect counts as not charged, as one that the service refuses. The
 * account's own count shows where the service sees it otherwise (docs/decisions/0009-requests-by-api-key.md).
 */
export async function endAsCarriedOut(
  db: Database,
  { id, lookupKey }: Pick<ServiceAction, 'id' | 'lookupKey'>,
  { found, at }: { found: Record<string, unknown>; at: Date },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await closeOpen(tx, lookupKey, {
      state: 'settled',
      reason: 'carried out, as a reading shows; its price was not stated',
      at,
    })
    await storeSingles(
      tx,
      [{ key: lookupKey, answer: { outcome: 'found', data: found, freshUntil: at } }],
      at,
    )
    await endAction(tx, id, { answer: found, problem: null, at })
  })
}

/** Permits sending once more. Returns false, and changes nothing, when another process has moved the action since it was read. */
export async function permitAgain(
  db: Database,
  action: Pick<ServiceAction, 'id' | 'lookupKey' | 'sentAt'>,
  { problem, at }: { problem: string; at: Date },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (!(await returnToIntent(tx, action, problem))) return false
    await closeOpen(tx, action.lookupKey, {
      state: 'declined',
      reason: 'not carried out, as a reading shows',
      at,
    })
    // An answer that could not be read does not keep it from being sent.
    await tx
      .updateTable('lookups')
      .set({ state: 'parked', due_at: indefinitely, code: sentByCommand })
      .where('key', '=', action.lookupKey)
      .execute()
    return true
  })
}

/** Closes the charge that was sent. One that a person or an answer has closed stays as it is. */
async function closeOpen(
  tx: Transaction<Tables>,
  key: ServiceAction['lookupKey'],
  { state, reason, at }: { state: 'settled' | 'declined'; reason: string; at: Date },
): Promise<void> {
  const { rows } = await sql<{ amount_atomic: bigint; budget_scopes: string[] }>`
    update charges set state = ${state}, reason = ${reason}, closed_at = ${at}, touched_at = ${at}
    where lookup_key = ${key} and state in ('sent', 'in_doubt') returning amount_atomic, budget_scopes`.execute(
    tx,
  )
  if (state === 'settled') return
  for (const { amount_atomic: amount, budget_scopes: scopes } of rows) await moveBudget(tx, scopes, -amount)
}
