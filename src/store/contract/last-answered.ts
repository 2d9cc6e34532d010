import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** Returns when a lookup of an operation was last paid and answered, in any process; undefined when none was since then. */
export async function lastAnswered(db: Database, operation: string, since: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(closed_at) as at from charges where state = 'settled' and operation = ${operation} and closed_at >= ${since}`.execute(
    db,
  )
  return rows[0]?.at ?? undefined
}
