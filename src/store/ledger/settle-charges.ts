import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates, type ChargeState, type Currency } from '../../domain/payment.ts'
import type { PaidReceipt, StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Operation } from '../../domain/words.ts'
import { inOneTrip, type Ending } from '../database/postgres/one-trip.ts'
import { rowForms } from '../database/row-forms.ts'
import type { Tables } from '../database/tables/schema.ts'
import { learnFromAnswers, namesAhead, type NameRow } from '../names/learn-names.ts'
import { movingBudgets } from './actual-cost.ts'
import { answersAsJson, isOfBatch, storeParts, taughtBy, type KeyedAnswer } from './answers.ts'

export interface Settlement {
  id: string
  key: LookupKey
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
 * Closes charges as paid, each at what the service says that its answer cost, and stores their answers. May be repeated: a settled
 * charge stays as it is. Returns the answers that the ledger then has exactly as they are here.
 *
 * With an ending it takes two trips: charges and answers with a reading of the names that these teach, and then budgets, names and
 * commit. What is not ordinary is an error there, and the same is then done without one (`inOneTransaction`).
 */
export async function settleCharges(
  tx: Transaction<Tables>,
  settlements: readonly Settlement[],
  { at, hosts, ending }: { at: Date; hosts: readonly string[]; ending: Ending },
): Promise<SettledAnswer[]> {
  const singles = settlements.filter(({ answer }) => !isOfBatch(answer))
  const isAtOnce = ending.length > 0 && singles.length === settlements.length
  const names = namesAhead(isAtOnce ? taughtBy(singles) : [], hosts)
  const { statement, isAsGiven } = closing(tx, settlements, at)
  const reading = names ? [names.reading] : []
  const [{ rows: closed }, known] = await inOneTrip<[Closed, ...NameRow[]]>(tx, statement, ...reading)
  const byId = new Map(closed.map((row) => [row.id, row]))
  const stored = singles.filter(({ id }) => byId.get(id)?.is_stored)
  const moving = movesOf(closed)
  if (isAtOnce) {
    if (stored.length < settlements.length) throw new Error('not every answer has its charge and its lookup')
    const learning = names && known ? names.learning(known.rows, at) : []
    await inOneTrip(tx, ...moving, ...learning, ...ending)
  } else {
    const parts: KeyedAnswer[] = []
    for (const { id, key, answer } of settlements) {
      const row = byId.get(id)
      if (row?.lookup_key !== key || !isOfBatch(answer)) continue
      parts.push(...(await storeParts(tx, key, answer, at, { ...row, amountAtomic: row.amount_atomic })))
    }
    await inOneTrip(tx, ...moving)
    await learnFromAnswers(tx, taughtBy([...stored, ...parts]), { at, hosts })
  }
  const asGiven = isAsGiven ? stored : []
  return asGiven.flatMap(({ id, key, answer }) => {
    const operation = byId.get(id)?.operation
    return operation === undefined ? [] : [{ key, answer, operation }]
  })
}

interface Closed {
  id: string
  lookup_key: LookupKey
  operation: Operation
  currency: Currency
  /** The price that was reserved; `amount_atomic` is what it cost. */
  reserved: bigint
  amount_atomic: bigint
  budget_scopes: string[]
  before: ChargeState
  is_stored: boolean
}

/**
 * Closes charges and stores the answers that belong to one lookup. They go as one parameter, so that the statement is the same each
 * time, and their ids and keys beside it: the planner expects a hundred rows of the JSON, and would read whole tables for so many. Locks
 * charges by id and lookups by key. Charges and lookups of a subject that was forgotten meanwhile have another key: what comes too late
 * for it is not stored, not even where it is asked for again.
 *
 * A charge in credits has reserved the highest price of its request. A payment on a chain keeps its amount, because that amount was
 * transferred.
 */
function closing(
  tx: Transaction<Tables>,
  settlements: readonly Settlement[],
  at: Date,
): { statement: RawBuilder<Closed>; isAsGiven: boolean } {
  const rows = settlements.map(({ id, key, receipt, answer }) => ({
    id,
    key,
    transaction: receipt.transaction,
    credits: receipt.creditsAtomic === undefined ? null : String(receipt.creditsAtomic),
    at: receipt.at,
    ...(isOfBatch(answer)
      ? { outcome: null, answer: null, fresh_until: null }
      : { outcome: answer.outcome, answer: answer.data, fresh_until: answer.freshUntil }),
  }))
  const { json, isAsGiven } = answersAsJson(rows, rowForms(tx))
  const [ids, keys] = [settlements.map(({ id }) => id), settlements.map(({ key }) => key)]
  const statement = sql<Closed>`
    with paid as materialized (
      select * from jsonb_to_recordset(${json}::jsonb) as paid (id text, key text, transaction text, credits bigint,
        at timestamptz, outcome text, answer jsonb, fresh_until timestamptz)
    ), open as materialized (
      select id, state, amount_atomic from charges where id = any(${ids}::text[]) and ${takesAnAnswer}
      order by id for no key update
    ), closed as (
      update charges set state = 'settled', transaction = paid.transaction, reason = null, credits_atomic = paid.credits,
        amount_atomic = case when currency = 'credit' then coalesce(paid.credits, open.amount_atomic) else open.amount_atomic end,
        closed_at = paid.at, touched_at = paid.at
      from paid join open using (id) where charges.id = any(${ids}::text[]) and charges.id = paid.id
      returning charges.id, charges.lookup_key, charges.operation, currency, open.amount_atomic as reserved,
        charges.amount_atomic, budget_scopes, open.state as before
    ), kept as materialized (
      select paid.* from paid join closed using (id) where paid.key = closed.lookup_key and outcome is not null
    ), locked as materialized (
      select key from lookups where key = any(${keys}::text[]) and key in (select key from kept)
      order by key collate "C" for no key update
    ), stored as (
      update lookups set state = 'answered', outcome = kept.outcome, answer = kept.answer, answered_at = ${at},
        fresh_until = kept.fresh_until, reason = null, queued_until = null
      from kept join locked using (key)
      where lookups.key = any(${keys}::text[]) and lookups.key = kept.key
      returning kept.id
    )
    select closed.*, stored.id is not null as is_stored from closed left join stored using (id)`
  return { statement, isAsGiven }
}

/**
 * Returns the statement that corrects the budget lines, where there is anything to correct. The money of a charge that was closed as
 * declined was given back, and is spent: it counts again, even above a cap.
 */
function movesOf(closed: readonly Closed[]): RawBuilder<unknown>[] {
  const moves = new Map<string, bigint>()
  for (const { before, reserved, amount_atomic: amount, budget_scopes: scopes } of closed) {
    const by = amount - (before === 'declined' ? 0n : reserved)
    for (const scope of by === 0n ? [] : scopes) moves.set(scope, (moves.get(scope) ?? 0n) + by)
  }
  return moves.size > 0 ? [movingBudgets(moves)] : []
}
