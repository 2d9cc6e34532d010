import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { ChargeState } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import { paidOnChainBy } from '../ledger/paid-charges.ts'

/** A transfer that is not booked as it was made, with the charge whose authorization moved it, if the ledger has one. */
export interface UnbookedTransfer {
  transaction: string
  logIndex: number
  amountAtomic: Atomic
  chargeId: string | null
  lookupKey: LookupKey | null
  state: ChargeState | null
  bookedAtomic: Atomic | null
}

/** A charge that the ledger has as paid, and for which no transfer was read. */
export interface UnseenCharge {
  id: string
  lookupKey: LookupKey
  transaction: string | null
  amountAtomic: Atomic
  nonce: string
  /** Unix seconds. */
  validBefore: number
}

interface Sum {
  count: number
  atomic: Atomic
}

export interface Comparison {
  /** Transfers to recipients of the ledger, and all others. */
  ours: Sum
  elsewhere: Sum
  /** Transfers that belong to charges in doubt. */
  moved: Sum
  /** Payments that the token's state proves and whose logs are gone. */
  unlogged: Sum
  unbooked: UnbookedTransfer[]
  unseen: UnseenCharge[]
}

/**
 * Compares the transfers that were read for a wallet with its charges, one by one. A transfer belongs to the charge whose
 * nonce it used, however many transfers its transaction holds.
 */
export async function compareTransfers(
  db: Database,
  { scope, wallet, recipients }: { scope: string; wallet: string; recipients: readonly string[] },
): Promise<Comparison> {
  const known = recipients.map((address) => address.toLowerCase())
  const transfers = sql`chain_transfers as moved left join charges on charges.nonce = moved.nonce
    where moved.scope = ${scope}`
  const isOurs = sql`(log_index >= 0 and recipient = any(${known}::text[]) and moved.amount_atomic > 0)`
  const isElsewhere = sql`(log_index >= 0 and recipient <> all(${known}::text[]))`
  const isOpen = sql`coalesce(state in ('journaled', 'sent', 'in_doubt'), false)`
  const isBooked = sql`coalesce(state in ('settled', 'lost', 'journaled', 'sent', 'in_doubt')
    and charges.amount_atomic = moved.amount_atomic, false)`
  const sums = await sql<Record<string, bigint>>`
    select count(*) filter (where ${isOurs}) as ours, ${atomicOf(isOurs)} as ours_atomic,
      count(*) filter (where ${isElsewhere}) as elsewhere, ${atomicOf(isElsewhere)} as elsewhere_atomic,
      count(*) filter (where ${isOurs} and ${isOpen}) as moved, ${atomicOf(sql`${isOurs} and ${isOpen}`)} as moved_atomic,
      count(*) filter (where log_index < 0) as unlogged, ${atomicOf(sql`log_index < 0`)} as unlogged_atomic
    from ${transfers}`.execute(db)
  const unbooked = await sql<UnbookedTransfer>`
    select moved.transaction, log_index::int as "logIndex", moved.amount_atomic as "amountAtomic", charges.id as "chargeId",
      lookup_key as "lookupKey", state, charges.amount_atomic as "bookedAtomic"
    from ${transfers} and ${isOurs} and not ${isBooked} order by block, log_index`.execute(db)
  const unseen = await sql<Omit<UnseenCharge, 'validBefore'> & { authorization: { validBefore?: unknown } }>`
    select id, lookup_key as "lookupKey", transaction, amount_atomic as "amountAtomic", nonce,
      authorization_json as "authorization"
    from charges where ${paidOnChainBy(wallet)} and state in ('settled', 'lost') and amount_atomic > 0
      and not exists (select 1 from chain_transfers where chain_transfers.nonce = charges.nonce and scope = ${scope})
    order by created_at, id`.execute(db)
  const row = sums.rows[0] ?? {}
  const sum = (name: string): Sum => ({
    count: Number(row[name] ?? 0),
    atomic: BigInt(row[`${name}_atomic`] ?? 0),
  })
  return {
    ours: sum('ours'),
    elsewhere: sum('elsewhere'),
    moved: sum('moved'),
    unlogged: sum('unlogged'),
    unbooked: unbooked.rows,
    unseen: unseen.rows.map(({ authorization, ...charge }) => ({
      ...charge,
      validBefore: Number(authorization.validBefore ?? 0),
    })),
  }
}

function atomicOf(condition: ReturnType<typeof sql>) {
  return sql`coalesce(sum(moved.amount_atomic) filter (where ${condition}), 0)::bigint`
}
