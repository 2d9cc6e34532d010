import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

/**
 * Reads an address from the authorization's text, for rows of a process that is older than the columns. The text is never
 * parsed: `->>` fails for the whole statement when one row holds an escape that Postgres does not know as text. Payer and
 * nonce are the authorization's own and at its end; what a server wrote comes before.
 */
const payerInText = sql`substring(authorization_json::text from
  '"payer":"(0x[0-9a-fA-F]{40})","nonce":"[^"]*","validAfter":[0-9]+,"validBefore":[0-9]+,"paymentId":"[^"]*"}$')`
const recipientInText = sql`substring(authorization_json::text from '"payTo":"(0x[0-9a-fA-F]{40})"')`

/** True for charges that a wallet pays on the chain. */
export const paidOnChainBy = (wallet: string) =>
  sql`protocol in ('x402', 'mpp') and lower(coalesce(payer, ${payerInText})) = ${wallet.toLowerCase()}`

/** The wallets that have paid in this ledger, in lower case. */
export async function payersOf(db: Database): Promise<string[]> {
  const { rows } = await sql<{ payer: string }>`
    select distinct lower(coalesce(payer, ${payerInText})) as payer from charges
    where protocol in ('x402', 'mpp') and currency = 'USD' and coalesce(payer, ${payerInText}) is not null
    order by 1`.execute(db)
  return rows.map(({ payer }) => payer)
}

/** The payments from a wallet on a chain, as the ledger has them. */
export interface PaidTotals {
  /** Settled and lost charges. */
  charges: number
  settledAtomic: Atomic
  lostAtomic: Atomic
  inDoubtAtomic: Atomic
  recipients: string[]
  /** When the first charge was drawn. */
  firstAt: Date | undefined
}

export async function paidTotals(db: Database, wallet: string): Promise<PaidTotals> {
  const { rows } = await sql<{
    charges: number
    settled: Atomic
    lost: Atomic
    in_doubt: Atomic
    recipients: string[] | null
    first_at: Date | null
  }>`
    select count(*) filter (where state in ('settled', 'lost') and amount_atomic > 0)::int as charges,
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as settled,
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as lost,
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as in_doubt,
      array_agg(distinct coalesce(pay_to, ${recipientInText})) as recipients, min(created_at) as first_at
    from charges where ${paidOnChainBy(wallet)}`.execute(db)
  const [row] = rows
  return {
    charges: row?.charges ?? 0,
    settledAtomic: row?.settled ?? 0n,
    lostAtomic: row?.lost ?? 0n,
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

/** Returns the time at which the last open payment on the chain can no longer be used; null where none is open. */
export async function openPaymentsUntil(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ until: string | null }>`
    select max((authorization_json ->> 'validBefore')::bigint)::text as until from charges
    where state in ('journaled', 'sent', 'in_doubt') and protocol in ('x402', 'mpp')`.execute(db)
  const until = rows[0]?.until
  return until ? new Date(Number(until) * 1000) : null
}

/** The ledger's bookings for direct access by API key. */
export interface CreditsBooked {
  /** Settled and lost charges, in millionths of a credit. */
  paidAtomic: bigint
  /** Charges in doubt that were sent so long ago that no answer is on its way. */
  inDoubt: number
  inDoubtAtomic: bigint
  /** Requests whose cost is not booked yet: just sent, or started and not answered. */
  underWay: number
}

export async function creditsBooked(db: Database, before: Date): Promise<CreditsBooked> {
  const isRecent = sql`(state = 'sent' or (state = 'in_doubt' and sent_at >= ${before}))`
  const isOld = sql`(state = 'in_doubt' and sent_at < ${before})`
  const { rows } = await sql<CreditsBooked>`
    select coalesce(sum(amount_atomic) filter (where state in ('settled', 'lost')), 0)::bigint as "paidAtomic",
      count(*) filter (where ${isOld})::int as "inDoubt",
      coalesce(sum(amount_atomic) filter (where ${isOld}), 0)::bigint as "inDoubtAtomic",
      (count(*) filter (where ${isRecent})
        + (select count(*) from lookups where query_id is not null and state in ('waiting', 'parked')))::int as "underWay"
    from charges where protocol = 'api_key'`.execute(db)
  return rows[0] ?? { paidAtomic: 0n, inDoubt: 0, inDoubtAtomic: 0n, underWay: 0 }
}
