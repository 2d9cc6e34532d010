import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/schema.ts'
import { storableJson } from '../database/parameters.ts'

/** The charge that paid for an answer. */
export interface PaidBy {
  id: string
  amountAtomic: Atomic
  currency: Currency
}

/** What was told of one lookup, or of all that went out together with it. */
export interface AnswerRow {
  key: LookupKey
  answer: StoredAnswer
  paidBy?: PaidBy
}

/** Writes each answer under its lookup, or under all lookups of its bundle; in the charges' transaction where they were paid for. */
export async function storeAnswers(
  tx: Transaction<Tables>,
  told: readonly AnswerRow[],
  at: Date,
): Promise<void> {
  const isParted = ({ answer }: AnswerRow) => answer.parts !== undefined || answer.startedAs !== undefined
  await storeSingles(
    tx,
    told.filter((each) => !isParted(each)),
    at,
  )
  for (const { key, answer, paidBy } of told.filter(isParted)) await storeParts(tx, key, answer, at, paidBy)
}

/**
 * One parameter, however many there are: the statement is the same each time. Locks them in the order in which others do.
 */
export async function storeSingles(
  db: Database,
  told: readonly { key: LookupKey; answer: Pick<StoredAnswer, 'outcome' | 'data' | 'freshUntil'> }[],
  at: Date,
): Promise<void> {
  if (told.length === 0) return
  const rows = told.map(({ key, answer: { outcome, data, freshUntil } }) => ({
    key,
    outcome,
    answer: data,
    fresh_until: freshUntil,
  }))
  await sql`
    with told as materialized (
      select * from jsonb_to_recordset(${storableJson(rows)}::jsonb)
        as told (key text, outcome text, answer jsonb, fresh_until timestamptz)
    ), locked as materialized (
      select key from lookups where key in (select key from told) order by key collate "C" for no key update
    )
    update lookups set state = 'answered', outcome = told.outcome, answer = told.answer, answered_at = ${at},
      fresh_until = told.fresh_until, reason = null
    from told join locked using (key) where lookups.key = told.key`.execute(db)
}

/**
 * Stores what one request told of each of its lookups, and each one's part of the price. They are free again: whoever
 * waits for them goes on. Part of the transaction in which the charge is settled.
 */
export async function storeParts(
  tx: Transaction<Tables>,
  bundle: LookupKey,
  answer: StoredAnswer,
  at: Date,
  paidBy?: PaidBy,
): Promise<void> {
  if (paidBy) await sharePrice(tx, bundle, paidBy, answer)
  if (answer.startedAs) {
    const { queryId, askAt } = answer.startedAs
    await tx
      .updateTable('lookups')
      .set({ query_id: queryId, due_at: askAt, queued_until: null, reason: null, tries: 0, state: 'waiting' })
      .where('key', '=', bundle)
      .execute()
    return
  }
  // In the order in which others lock them. One that was let go meanwhile and has no answer yet takes this one: it was paid for.
  const { rows: members } = await sql<{ lookup_key: LookupKey; place: number }>`
    select lookup_key, place from bundle_members join lookups on lookups.key = lookup_key
    where bundle_members.bundle_key = ${bundle}
      and (lookups.bundle_key = ${bundle} or (lookups.bundle_key is null and lookups.state in ('waiting', 'parked')))
    order by lookup_key collate "C" for no key update of lookups`.execute(tx)
  const told = members.map(({ lookup_key: key, place }) => {
    const part = answer.parts?.get(place)
    if (!part) throw new Error(`no answer for entry ${place} of a bundle`)
    return { key, answer: part }
  })
  await storeSingles(tx, told, at)
  await tx.updateTable('lookups').set({ bundle_key: null }).where('bundle_key', '=', bundle).execute()
  await tx
    .updateTable('lookups')
    // Who was asked for stands with the lookups themselves.
    .set({
      state: 'answered',
      outcome: 'found',
      answer: null,
      request: '{}',
      answered_at: at,
      fresh_until: answer.freshUntil,
    })
    .where('key', '=', bundle)
    .execute()
}

/**
 * In equal parts over all that were asked for, or, where only what is found costs credits, over those that were found. What
 * does not divide goes to the first ones, so that the parts add up to the charge.
 */
async function sharePrice(
  tx: Transaction<Tables>,
  bundle: LookupKey,
  { id, amountAtomic, currency }: PaidBy,
  { parts }: StoredAnswer,
): Promise<void> {
  const found = [...(parts ?? [])].filter(([, part]) => part.outcome === 'found').map(([place]) => place)
  const isOnlyFound = currency === 'credit' && found.length > 0
  await sql`
    with asked as (
      select lookup_key, not ${isOnlyFound} or place = any(${found}::int[]) as is_charged, place
      from bundle_members where bundle_key = ${bundle}
    ), part as (
      select lookup_key, is_charged, row_number() over (order by is_charged desc, place, lookup_key) as number,
        count(*) filter (where is_charged) over () as parts from asked
    )
    update bundle_members set charge_id = ${id}, amount_atomic = case when is_charged
      then ${amountAtomic}::bigint / parts + case when number <= ${amountAtomic}::bigint % parts then 1 else 0 end
      else 0 end
    from part where bundle_members.bundle_key = ${bundle} and bundle_members.lookup_key = part.lookup_key`.execute(
    tx,
  )
}
