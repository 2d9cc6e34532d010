import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/**
 * Erases up to `limit` answers that are older than `before`, and returns how many. Answers that open tasks still need stay
 * until those tasks have ended.
 */
export async function eraseOldAnswers(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ key: string }>`
    with old as (
      select key from lookups where answer is not null and state = 'answered' and answered_at < ${before}
        and not exists (select 1 from tasks where status in ('queued', 'looking_up', 'ready', 'parked')
          and (waiting_for = lookups.key or lookups.key = any(steps)))
      limit ${limit} for update skip locked
    )
    update lookups set answer = null, fresh_until = least(fresh_until, ${before}) from old where lookups.key = old.key
    returning lookups.key`.execute(db)
  return rows.length
}
