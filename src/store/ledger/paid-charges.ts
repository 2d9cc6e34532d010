import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

export interface PaidCharge {
  id: string
  lookupKey: LookupKey
  state: 'settled' | 'lost'
  transaction: string | null
  amountAtomic: Atomic
}

/**
 * Reads an address from the authorization's text, for rows of a process that is older than the columns. The text is never
 * parsed: `->>` fails for the whole statement when one row holds an escape that Postgres does not know as text. Payer and
 * nonce are the authorization's own and at its end; what a server wrote comes before.
 */
const payerInText = sql`substring(authorization_json::text from
  '"payer":"(0x[0-9a-fA-F]{40})","nonce":"[^"]*","validAfter":[0-9]+,"validBefore":[0-9]+,"paymentId":"[^"]*"}$')`
const recipientInText = sql`substring(authorization_json::text from '"payTo":"(0x[0-9a-fA-F]{40})"')`

/** Returns the payments from a wallet on a chain, as the ledger has them: settled and lost charges, and the sum in doubt. */
export async function paidCharges(
  db: Database,
  wallet: string,
): Promise<{
  charges: PaidCharge[]
  inDoubtAtomic: Atomic
  recipients: string[]
  firstAt: Date | undefined
}> {
  const own = sql`protocol in ('x402', 'mpp') and lower(coalesce(payer, ${payerInText})) = ${wallet.toLowerCase()}`
  const { rows: charges } = await sql<PaidCharge>`
    select id, lookup_key as "lookupKey", state, transaction, amount_atomic as "amountAtomic" from charges
    where ${own} and state in ('settled', 'lost') and amount_atomic > 0 order by created_at`.execute(db)
  const { rows } = await sql<{ in_doubt: Atomic; recipients: string[] | null; first_at: Date | null }>`
    select coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as in_doubt,
      array_agg(distinct coalesce(pay_to, ${recipientInText})) as recipients, min(created_at) as first_at
    from charges where ${own}`.execute(db)
  const [row] = rows
  return {
    charges,
    inDoubtAtomic: row?.in_doubt ?? 0n,
    recipients: row?.recipients ?? [],
    firstAt: row?.first_at ?? undefined,
  }
}

/** The service's own count of what settled answers cost, beside the ledger's amounts for the same answers. */
export interface CreditCount {
  currency: Currency
  /** Settled charges. */
  charges: number
  /** Those whose answer said what it cost. */
  counted: number
  /** The cost that these answers stated, in millionths of a credit. */
  creditsAtomic: bigint
  /** The ledger's amount for the same answers, in millionths of USD or of a credit. */
  ledgerAtomic: Atomic
  /** The amount of all settled charges. */
  settledAtomic: Atomic
}

export async function creditCounts(db: Database): Promise<CreditCount[]> {
  const { rows } = await sql<CreditCount>`
    select currency, count(*)::int as charges, count(credits_atomic)::int as counted,
      coalesce(sum(credits_atomic), 0)::bigint as "creditsAtomic",
      coalesce(sum(amount_atomic) filter (where credits_atomic is not null), 0)::bigint as "ledgerAtomic",
      coalesce(sum(amount_atomic), 0)::bigint as "settledAtomic"
    from charges where state = 'settled' group by currency order by currency`.execute(db)
  return rows
}
