import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { isStorableText } from '../database/parameters.ts'
import { rowForms, type RowForms } from '../database/row-forms.ts'
import { learnFromAnswers, type Taught } from '../names/learn-names.ts'

/** The charge that paid for an answer. */
interface PaidBy {
  id: string
  amountAtomic: Atomic
  currency: Currency
}

/** The answer to one lookup, or to all members of a batch. */
export interface AnswerRow {
  key: LookupKey
  answer: StoredAnswer
  paidBy?: PaidBy
}

/**
 * Stores each answer under its lookup, or under all members of its batch, and then the names that they teach. Paid answers are
 * stored in the charge's transaction.
 */
export async function storeAnswers(
  tx: Transaction<Tables>,
  rows: readonly AnswerRow[],
  { at, hosts }: { at: Date; hosts: readonly string[] },
): Promise<void> {
  const stored: KeyedAnswer[] = rows.filter(({ answer }) => !isOfBatch(answer))
  await storeSingles(tx, stored, at)
  for (const { key, answer, paidBy } of rows.filter((row) => isOfBatch(row.answer)))
    stored.push(...(await storeParts(tx, key, answer, at, paidBy)))
  await learnFromAnswers(tx, taughtBy(stored), { at, hosts })
}

/** True for the answer to a batch, and for what only says that one was started. */
export function isOfBatch({ parts, startedAs }: StoredAnswer): boolean {
  return parts !== undefined || startedAs !== undefined
}

export function taughtBy(answers: readonly KeyedAnswer[]): Taught[] {
  const found = answers.filter(({ answer }) => answer.outcome === 'found' || answer.outcome === 'not_found')
  return found.map(({ key, answer }) => ({ key, data: answer.data }))
}

export interface KeyedAnswer {
  key: LookupKey
  answer: Pick<StoredAnswer, 'outcome' | 'data' | 'freshUntil'>
}

/**
 * Stores answers under their own lookups. The answers go as one parameter, so that the statement is the same each time.
 * Locks the lookups by key, as every other writer does.
 */
export async function storeSingles(db: Database, answers: readonly KeyedAnswer[], at: Date): Promise<void> {
  if (answers.length === 0) return
  const given = answers.map(({ key, answer: { outcome, data, freshUntil } }) => ({
    key,
    outcome,
    answer: data,
    fresh_until: freshUntil,
  }))
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${answersAsJson(given, rowForms(db)).json}::jsonb)
        as given (key text, outcome text, answer jsonb, fresh_until timestamptz)
    ), locked as materialized (
      select key from lookups where key in (select key from given) order by key collate "C" for no key update
    )
    update lookups set state = 'answered', outcome = given.outcome, answer = given.answer, answered_at = ${at},
      fresh_until = given.fresh_until, reason = null, queued_until = null
    from given join locked using (key) where lookups.key = given.key`.execute(db)
}

/**
 * Returns the rows as JSON, and whether whoever reads them finds every answer as it is here: a character that no column takes is left
 * out.
 */
export function answersAsJson(
  rows: readonly { key: LookupKey; answer: Record<string, unknown> | null }[],
  forms: RowForms,
): { json: string; isAsGiven: boolean } {
  // Hardly an answer has what no column takes: the rows are written once, and looked through as one text.
  const plain = forms.isPlain ? JSON.stringify(rows) : undefined
  if (plain !== undefined && isStorableText(plain)) return { json: plain, isAsGiven: true }
  const formed = rows.map((row) => ({ row, form: forms.answer(row.key, row.answer) }))
  return {
    json: JSON.stringify(formed.map(({ row, form }) => ({ ...row, answer: form.stored }))),
    isAsGiven: formed.every(({ form }) => form.isAsGiven),
  }
}

/**
 * Stores the answer of a batch under each of its lookups, with each one's share of the price, and returns them. The tasks that wait for them
 * can then go on. A batch that the service only started is scheduled to be polled for its answer. Runs in the transaction
 * that settles the charge.
 */
export async function storeParts(
  tx: Transaction<Tables>,
  batch: LookupKey,
  answer: StoredAnswer,
  at: Date,
  paidBy?: PaidBy,
): Promise<KeyedAnswer[]> {
  if (paidBy) await sharePrice(tx, batch, paidBy, answer)
  if (answer.startedAs) {
    const { queryId, askAt } = answer.startedAs
    await tx
      .updateTable('lookups')
      .set({ query_id: queryId, due_at: askAt, queued_until: null, reason: null, tries: 0, state: 'waiting' })
      .where('key', '=', batch)
      .execute()
    return []
  }
  // Locks by key, as every other writer does. A member that has left the batch and has no answer yet takes this paid one.
  const { rows: members } = await sql<{ lookup_key: LookupKey; place: number }>`
    select lookup_key, place from bundle_members join lookups on lookups.key = lookup_key
    where bundle_members.bundle_key = ${batch}
      and (lookups.bundle_key = ${batch} or (lookups.bundle_key is null and lookups.state in ('waiting', 'parked')))
    order by lookup_key collate "C" for no key update of lookups`.execute(tx)
  const answers = members.map(({ lookup_key: key, place }) => {
    // The batch was paid for: an entry without an answer must not cost the others theirs.
    const part = answer.parts?.get(place) ?? {
      outcome: 'unreadable' as const,
      data: { problem: `no answer for entry ${place} of a batch` },
      freshUntil: answer.freshUntil,
    }
    return { key, answer: part }
  })
  await storeSingles(tx, answers, at)
  await tx.updateTable('lookups').set({ bundle_key: null }).where('bundle_key', '=', batch).execute()
  await tx
    .updateTable('lookups')
    // The batch's request is erased: each lookup has its own.
    .set({
      state: 'answered',
      outcome: 'found',
      answer: null,
      request: '{}',
      answered_at: at,
      fresh_until: answer.freshUntil,
    })
    .where('key', '=', batch)
    .execute()
  return answers
}

/**
 * Shares the price of a batch equally among its members. Credits are charged only for lookups that are found, so there only
 * the found members share. The remainder goes to the first members, so that the shares add up to the charge.
 */
async function sharePrice(
  tx: Transaction<Tables>,
  batch: LookupKey,
  { id, amountAtomic, currency }: PaidBy,
  { parts }: StoredAnswer,
): Promise<void> {
  const found = [...(parts ?? [])].filter(([, part]) => part.outcome === 'found').map(([place]) => place)
  const isOnlyFound = currency === 'credit' && found.length > 0
  await sql`
    with asked as (
      select lookup_key, not ${isOnlyFound} or place = any(${found}::int[]) as is_charged, place
      from bundle_members where bundle_key = ${batch}
    ), part as (
      select lookup_key, is_charged, row_number() over (order by is_charged desc, place, lookup_key) as number,
        count(*) filter (where is_charged) over () as parts from asked
    )
    update bundle_members set charge_id = ${id}, amount_atomic = case when is_charged
      then ${amountAtomic}::bigint / parts + case when number <= ${amountAtomic}::bigint % parts then 1 else 0 end
      else 0 end
    from part where bundle_members.bundle_key = ${batch} and bundle_members.lookup_key = part.lookup_key`.execute(
    tx,
  )
}
