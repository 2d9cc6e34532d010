import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import { openChargeStates, type ChargeState } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { moveBudget } from './actual-cost.ts'

/** A charge that was closed as unpaid, and that the chain shows as paid. */
export interface HealedCharge {
  id: string
  lookupKey: LookupKey
  transaction: string
  amountAtomic: Atomic
  /** `in_doubt`: its answer may still be asked for. `settled`: the ledger has its answer. `lost`: its lookup was bought again. */
  state: Extract<ChargeState, 'in_doubt' | 'settled' | 'lost'>
}

/** An authorization that a transaction on the chain used. */
export interface UsedAuthorization {
  nonce: string
  transaction: string
}

/** A charge takes one of these states only when the chain called its authorization dead, or when nothing was ever sent. */
const closedAsUnpaid = sql`state in ('expired', 'declined') and protocol in ('x402', 'mpp')`

const reason = 'closed as unpaid, but the chain shows its payment'

/**
 * Reopens the charges that were closed as unpaid by mistake: a node that was behind the others called an authorization
 * dead after it had been used. Their budget counts again, even above a cap, because the money is spent. Returns the charges
 * that it healed.
 *
 * Crash window: none. One transaction changes charge, budget and lookup; a second call finds nothing to heal. The lookup's
 * row is locked first, as `reserve` does, so that no second charge can be journaled while the first is reopened.
 */
export async function healCharges(
  db: Database,
  used: readonly UsedAuthorization[],
  now: Date,
): Promise<HealedCharge[]> {
  if (used.length === 0) return []
  const transactions = new Map(used.map(({ nonce, transaction }) => [nonce.toLowerCase(), transaction]))
  const nonces = [...transactions.keys()]
  return db.transaction().execute(async (tx) => {
    // The lock needs a statement of its own: a statement that waits for a lock still sees the charges from before the wait.
    await sql`select from lookups where key in (select lookup_key from charges where nonce = any(${nonces}))
      order by key collate "C" for no key update`.execute(tx)
    const { rows } = await sql<Wrong>`
      select id, lookup_key as "lookupKey", nonce, amount_atomic as "amountAtomic", budget_scopes as scopes from charges
      where nonce = any(${nonces}) and ${closedAsUnpaid} order by id for no key update`.execute(tx)
    const healed: HealedCharge[] = []
    for (const row of rows) healed.push(await heal(tx, row, transactions.get(row.nonce) as string, now))
    return healed
  })
}

interface Wrong {
  id: string
  lookupKey: LookupKey
  nonce: string
  amountAtomic: Atomic
  scopes: string[]
}

async function heal(
  tx: Transaction<Tables>,
  { id, lookupKey, amountAtomic, scopes }: Wrong,
  transaction: string,
  now: Date,
): Promise<HealedCharge> {
  const state = await stateOf(tx, id, lookupKey)
  const isOpen = state === 'in_doubt'
  // It counts as untouched for long, so that the resolver takes it at once when no worker does.
  await sql`
    update charges set state = ${state}, reason = ${reason}, transaction = ${transaction},
      sent_at = coalesce(sent_at, created_at), touched_at = coalesce(sent_at, created_at),
      closed_at = ${isOpen ? null : now}::timestamptz
    where id = ${id}`.execute(tx)
  await moveBudget(tx, scopes, amountAtomic)
  if (isOpen) {
    await sql`update lookups set due_at = ${now}, queued_until = null
      where key = ${lookupKey} and state in ('waiting', 'parked')`.execute(tx)
  }
  return { id, lookupKey, transaction, amountAtomic, state }
}

/**
 * While its lookup has another charge that is open or paid, the charge only counts: its answer is no longer needed. An
 * answer without such a charge is its own: it came without a receipt.
 */
async function stateOf(
  tx: Transaction<Tables>,
  id: string,
  lookupKey: LookupKey,
): Promise<HealedCharge['state']> {
  const others = [...openChargeStates, 'settled']
  const { rows } = await sql<{ is_replaced: boolean; is_answered: boolean }>`
    select state = 'answered' or query_id is not null as is_answered,
      exists (select from charges where lookup_key = lookups.key and id <> ${id} and attempt >
          (select attempt from charges where id = ${id}) and state = any(${others}::text[])) as is_replaced
    from lookups where key = ${lookupKey}`.execute(tx)
  if (rows[0]?.is_replaced) return 'lost'
  return rows[0]?.is_answered ? 'settled' : 'in_doubt'
}
