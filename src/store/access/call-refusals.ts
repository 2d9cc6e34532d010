import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export interface CallRefusal {
  reason: string
  /** UTC, YYYY-MM-DD. */
  day: string
  count: number
}

/** Counts a refused call under its reason and day. The caller is not recorded. */
export async function countCallRefusal(db: Database, reason: string, at: Date): Promise<void> {
  const day = at.toISOString().slice(0, 10)
  await sql`
    insert into call_refusals (reason, day, count) values (${reason}, ${day}, 1)
    on conflict (reason, day) do update set count = call_refusals.count + 1`.execute(db)
}

export async function callRefusals(db: Database): Promise<CallRefusal[]> {
  const { rows } = await sql<CallRefusal>`
    select reason, to_char(day, 'YYYY-MM-DD') as day, count::int as count from call_refusals
    order by day desc, reason`.execute(db)
  return rows
}
