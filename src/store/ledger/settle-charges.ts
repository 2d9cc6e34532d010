import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates, type ChargeState, type Currency } from '../../domain/payment.ts'
import type { PaidReceipt, StoredAnswer } from '../../domain/ports/charge-journal.ts'
import { storeAnswers, type AnswerRow } from './answers.ts'
import type { Tables } from '../database/schema.ts'
import { moveBudget, actualCost } from './actual-cost.ts'

export interface Settlement {
  id: string
  receipt: PaidReceipt
  answer: StoredAnswer
}

/**
 * Open ones, and lost ones: a worker that slept past its lock may bring the answer after all. Of what nobody can be asked about
 * also what a person took for declined. What expired or was never sent has the chain's word that nothing has moved.
 */
const takesAnAnswer = sql`(state = any(${[...openChargeStates, 'lost']}::text[])
  or (state = 'declined' and protocol in ('api_key', 'mpp_card')))`

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
  const { rows: closed } = await sql<Closed>`
    with paid as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as paid (id text, transaction text, credits bigint, at timestamptz)
    ), open as materialized (
      select id, state from charges where id in (select id from paid) and ${takesAnAnswer} order by id for no key update
    )
    update charges set state = 'settled', transaction = paid.transaction, reason = null, credits_atomic = paid.credits,
      closed_at = paid.at, touched_at = paid.at
    from paid join open using (id) where charges.id = paid.id
    returning charges.id, lookup_key, currency, amount_atomic, budget_scopes, open.state as before`.execute(
    tx,
  )
  const byId = new Map(closed.map((row) => [row.id, row]))
  const told: AnswerRow[] = []
  for (const { id, receipt, answer } of settlements) {
    const row = byId.get(id)
    if (!row) continue
    // Its budget was given back. It is spent all the same, above a cap if need be.
    if (row.before === 'declined') await moveBudget(tx, row.budget_scopes, row.amount_atomic)
    const amountAtomic = await actualCost(tx, id, row, receipt.creditsAtomic)
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
  before: ChargeState
}
