import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** A limit that the service has named by refusing a request (416). */
export interface KnownLimit {
  operation: Operation
  name: 'page' | 'per_page'
  /** The greatest value that may be sent. */
  value: number
  /** The code of the refusal. */
  code: string | null
  seenAt: Date
}

/** Stores the last limit of its name. A later one replaces it, because a plan may have grown. */
export async function noteLimit(
  db: Database,
  { operation, name, value, code, seenAt }: KnownLimit,
): Promise<void> {
  const row = { value: BigInt(value), code, seen_at: seenAt }
  await db
    .insertInto('known_limits')
    .values({ operation, name, ...row })
    .onConflict((conflict) => conflict.columns(['operation', 'name']).doUpdateSet(row))
    .execute()
}

/** Returns the limits of an operation, or of all of them. */
export async function limitsOf(db: Database, operation?: Operation): Promise<KnownLimit[]> {
  const all = db
    .selectFrom('known_limits')
    .select(['operation', 'name', 'value', 'code', 'seen_at as seenAt'])
    .orderBy('operation')
    .orderBy('name')
  const rows = await (operation === undefined ? all : all.where('operation', '=', operation)).execute()
  return rows.map((row) => ({ ...row, value: Number(row.value) }))
}
