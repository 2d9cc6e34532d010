import { sql } from 'kysely'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** A new name of a key of requests that the service has announced and a person has accepted. */
export interface AcceptedRename {
  operation: Operation
  /** The key of the catalogue. */
  field: string
  wireName: string
  acceptedAt: Date
}

/** Stores that requests use the service's name from now on. A later one for the same key replaces it. */
export async function acceptRename(db: Database, rename: AcceptedRename): Promise<void> {
  const { operation, field, wireName: wire_name, acceptedAt: accepted_at } = rename
  await db
    .insertInto('accepted_renames')
    .values({ operation, field, wire_name, accepted_at })
    .onConflict((conflict) =>
      conflict.columns(['operation', 'field']).doUpdateSet({ wire_name, accepted_at }),
    )
    .execute()
}

/** Returns the accepted names of an operation's keys, or those of all operations. */
export async function renamesOf(db: Database, operation?: Operation): Promise<AcceptedRename[]> {
  const all = db
    .selectFrom('accepted_renames')
    .select(['operation', 'field', 'wire_name as wireName', 'accepted_at as acceptedAt'])
    .orderBy('operation')
    .orderBy('field')
  return (operation === undefined ? all : all.where('operation', '=', operation)).execute()
}

/**
 * Makes the stored answers stale whose requests had a renamed key: the service may have read them without it. Nothing is bought by
 * this; the next request for the same is. Returns how many there were.
 */
export async function expireRenamed(db: Database, operation: Operation, at: Date): Promise<number> {
  const { rows } = await sql<{ expired: number }>`
    with expired as (
      update lookups set fresh_until = ${at} where operation = ${operation} and state = 'answered' and fresh_until > ${at}
        and coalesce(answer #> '{metadata,renamed_fields}', '[]'::jsonb) not in ('[]'::jsonb, '{}'::jsonb, 'null'::jsonb)
      returning key
    )
    select count(*)::int as expired from expired`.execute(db)
  return rows[0]?.expired ?? 0
}
