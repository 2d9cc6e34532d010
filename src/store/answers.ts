import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../domain/keys.ts'
import type { Atomic } from '../domain/money.ts'
import type { StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { Database } from './database.ts'
import type { Tables } from './schema.ts'

/** The charge that paid for an answer. */
export interface PaidBy {
  id: string
  amountAtomic: Atomic
}

/** Writes an answer under its lookup, or under all lookups of its bundle; in the charge's transaction where it was paid for. */
export async function storeAnswer(
  tx: Transaction<Tables>,
  key: LookupKey,
  answer: StoredAnswer,
  at: Date,
  paidBy?: PaidBy,
): Promise<void> {
  if (answer.parts || answer.startedAs) return storeParts(tx, key, answer, at, paidBy)
  return storeSingle(tx, key, answer, at)
}

export async function storeSingle(
  db: Database,
  key: LookupKey,
  answer: StoredAnswer,
  at: Date,
): Promise<void> {
  await db
    .updateTable('lookups')
    .set({
      state: 'answered',
      outcome: answer.outcome,
      answer: answer.data === null ? null : JSON.stringify(answer.data),
      answered_at: at,
      fresh_until: answer.freshUntil,
      reason: null,
    })
    .where('key', '=', key)
    .execute()
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
  if (paidBy) await sharePrice(tx, bundle, paidBy)
  if (answer.startedAs) {
    const { queryId, askAt } = answer.startedAs
    await tx
      .updateTable('lookups')
      .set({ query_id: queryId, due_at: askAt, queued_until: null, reason: null, tries: 0, state: 'waiting' })
      .where('key', '=', bundle)
      .execute()
    return
  }
  const members = await tx
    .selectFrom('bundle_members')
    .innerJoin('lookups', 'lookups.key', 'lookup_key')
    .select(['lookup_key', 'place'])
    .where('bundle_members.bundle_key', '=', bundle)
    .where('lookups.bundle_key', '=', bundle)
    .execute()
  for (const { lookup_key: key, place } of members) {
    const part = answer.parts?.get(place)
    if (!part) throw new Error(`no answer for entry ${place} of a bundle`)
    await storeSingle(tx, key, part, at)
  }
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

/** In equal parts; what does not divide goes to the first ones, so that the parts add up to the charge. */
async function sharePrice(
  tx: Transaction<Tables>,
  bundle: LookupKey,
  { id, amountAtomic }: PaidBy,
): Promise<void> {
  await sql`
    with part as (
      select lookup_key, row_number() over (order by place, lookup_key) as number, count(*) over () as parts
      from bundle_members where bundle_key = ${bundle}
    )
    update bundle_members set charge_id = ${id},
      amount_atomic = ${amountAtomic}::bigint / parts + case when number <= ${amountAtomic}::bigint % parts then 1 else 0 end
    from part where bundle_members.bundle_key = ${bundle} and bundle_members.lookup_key = part.lookup_key`.execute(
    tx,
  )
}
