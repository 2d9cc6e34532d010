import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'

/** The request that the answer of a lookup was paid for with. */
export interface SentRequest {
  url: string
  /** As it left, with the service's names of its keys. */
  body: string
  answeredAt: Date
}

/** Returns the request behind a lookup's answer; undefined for one that cost nothing or was bought in a batch. */
export async function sentRequestOf(db: Database, key: LookupKey): Promise<SentRequest | undefined> {
  const { rows } = await sql<SentRequest>`
    select url, body, answered_at as "answeredAt" from charges join lookups on lookups.key = charges.lookup_key
    where lookup_key = ${key} and charges.state = 'settled' and lookups.state = 'answered' and answered_at is not null
    order by attempt desc limit 1`.execute(db)
  return rows[0]
}

/** Makes one answer stale, unless another one has taken its place since. Returns whether it did. */
export async function expireAnswer(
  db: Database,
  key: LookupKey,
  answeredAt: Date,
  at: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update lookups set fresh_until = ${at} where key = ${key} and state = 'answered' and fresh_until > ${at}
      and date_trunc('milliseconds', answered_at) = ${answeredAt}::timestamptz
    returning key`.execute(db)
  return rows.length > 0
}
