import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'

/** A lookup that is bought next, with the number of its charges so far. */
export interface NextAttempt {
  key: LookupKey
  attempts: number
}

export async function nextAttempts(db: Database, limit: number): Promise<NextAttempt[]> {
  const { rows } = await sql<NextAttempt>`
    select key, (select coalesce(max(attempt), 0) from charges where lookup_key = key)::int as attempts from lookups
    where state in ('waiting', 'parked') and bundle_key is null order by due_at limit ${limit}`.execute(db)
  return rows
}

/** Returns those of these nonces that no charge has. */
export async function unknownNonces(db: Database, nonces: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ nonce: string }>`
    select nonce from unnest(${[...nonces]}::text[]) as asked (nonce)
    where not exists (select from charges where charges.nonce = asked.nonce)`.execute(db)
  return rows.map(({ nonce }) => nonce)
}

/** Returns the last time at which the ledger certainly knew everything: its last charge, or the beginning. */
export async function lastKnownAt(db: Database): Promise<Date> {
  const { rows } = await sql<{ at: Date | null }>`select max(touched_at) as at from charges`.execute(db)
  return rows[0]?.at ?? new Date(0)
}
