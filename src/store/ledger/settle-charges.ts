import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates, type ChargeState, type Currency } from '../../domain/payment.ts'
import type { PaidReceipt, StoredAnswer } from '../../domain/ports/charge-journal.ts'
import { storeAnswers, type AnswerRow, type KeyedAnswer } from './answers.ts'
import type { Operation } from '../../domain/words.ts'
import type { Ending } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'
import { moveBudget, actualCost } from './actual-cost.ts'

export interface Settlement {
  id: string
  receipt: PaidReceipt
  answer: StoredAnswer
}

/**
 * True for charges that may still be settled: open ones, and lost ones, because a worker that slept past its lock may still
 * deliver the answer. For protocols that cannot be queried it includes charges that a person closed as declined. For an
 * expired or withdrawn charge the chain has confirmed that nothing was transferred.
 */
const takesAnAnswer = sql`(state = any(${[...openChargeStates, 'lost']}::text[])
  or (state = 'declined' and protocol in ('api_key', 'mpp_card')))`

/** An answer to one lookup, as the ledger has it when this transaction has committed. */
export type SettledAnswer = KeyedAnswer & { operation: Operation }

/**
 * Closes charges as paid and stores their answers. May be repeated: a settled charge stays as it is. Returns the answers that the
 * ledger then has exactly as they are here.
 */
export async function settleCharges(
  tx: Transaction<Tables>,
  settlements: readonly Settlement[],
  { at, hosts, ending }: { at: Date; hosts: readonly string[]; ending: Ending },
): Promise<SettledAnswer[]> {
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
    returning charges.id, lookup_key, charges.operation, currency, amount_atomic, budget_scopes, open.state as before`.execute(
    tx,
  )
  const byId = new Map(closed.map((row) => [row.id, row]))
  const answers: AnswerRow[] = []
  for (const { id, receipt, answer } of settlements) {
    const row = byId.get(id)
    if (!row) continue
    // Its budget was given back, but the money is spent: it counts again, even above a cap.
    if (row.before === 'declined') await moveBudget(tx, row.budget_scopes, row.amount_atomic)
    const amountAtomic = await actualCost(tx, id, row, receipt.creditsAtomic)
    answers.push({ key: row.lookup_key, answer, paidBy: { id, amountAtomic, currency: row.currency } })
  }
  const operations = new Map(closed.map((row) => [row.lookup_key, row.operation]))
  return (await storeAnswers(tx, answers, { at, hosts, ending })).flatMap((stored) => {
    const operation = operations.get(stored.key)
    return operation === undefined ? [] : [{ ...stored, operation }]
  })
}

interface Closed {
  id: string
  lookup_key: LookupKey
  operation: Operation
  currency: Currency
  amount_atomic: bigint
  budget_scopes: string[]
  before: ChargeState
}
