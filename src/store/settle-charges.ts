import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../domain/keys.ts'
import { openChargeStates, type Currency } from '../domain/payment.ts'
import type { PaidReceipt, StoredAnswer } from '../domain/ports/charge-journal.ts'
import { storeAnswers, type Told } from './answers.ts'
import type { Tables } from './schema.ts'
import { settleTruth } from './settle-truth.ts'

export interface Settlement {
  id: string
  receipt: PaidReceipt
  answer: StoredAnswer
}

/** Closes charges as paid and stores their answers. May be done twice: what is settled stays as it is. */
export async function settleCharges(
  tx: Transaction<Tables>,
  settlements: readonly Settlement[],
  at: Date,
): Promise<void> {
  const rows = settlements.map(({ id, receipt }) => ({
    id,
    transaction: receipt.transaction,
    credits: receipt.creditsAtomic === undefined ? null : String(receipt.creditsAtomic),
    at: receipt.at,
  }))
  // A worker that slept past its lock may bring the answer to a charge already counted as lost: it was paid, and here is the data.
  const { rows: closed } = await sql<Closed>`
    update charges set state = 'settled', transaction = paid.transaction, reason = null, credits_atomic = paid.credits,
      closed_at = paid.at, touched_at = paid.at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as paid (id text, transaction text, credits bigint, at timestamptz)
    where charges.id = paid.id and state = any(${[...openChargeStates, 'lost']}::text[])
    returning charges.id, lookup_key, currency, amount_atomic, budget_scopes`.execute(tx)
  const byId = new Map(closed.map((row) => [row.id, row]))
  const told: Told[] = []
  for (const { id, receipt, answer } of settlements) {
    const row = byId.get(id)
    if (!row) continue
    const amountAtomic = await settleTruth(tx, id, row, receipt.creditsAtomic)
    told.push({ key: row.lookup_key, answer, paidBy: { id, amountAtomic, currency: row.currency } })
  }
  await storeAnswers(tx, told, at)
}

interface Closed {
  id: string
  lookup_key: LookupKey
  currency: Currency
  amount_atomic: bigint
  budget_scopes: string[]
}
