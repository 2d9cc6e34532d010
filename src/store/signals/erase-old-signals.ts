import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/**
 * Deletes up to `limit` signals that were seen last before a time, and the scores and accounts of before it. Returns how many.
 *
 * What goes on by the last check that would have shown it stays however old it is: without it a count would fall while nothing has
 * ended. News tell of one day, and go with it. An account that no run has read since goes with all that is kept of it.
 */
export async function eraseOldSignals(db: Database, before: Date, limit: number): Promise<number> {
  const { rows: accounts } = await sql`
    delete from signal_accounts where id in (
      select id from signal_accounts where seen_at < ${before} order by id limit ${limit} for update skip locked)
    returning 1`.execute(db)
  const { rows: signals } = await sql`
    delete from signals where id in (
      select id from signals where last_seen_at < ${before} and (type = 'news' or ended_at is not null
        or exists (select from signal_checks as checks where checks.account_id = signals.account_id
          and checks.type = signals.type and checks.whole_at > signals.last_seen_at))
      order by id limit ${limit} for update skip locked)
    returning 1`.execute(db)
  const { rows: scores } = await sql`
    delete from signal_scores where (pipeline, account_id, day) in (
      select pipeline, account_id, day from signal_scores where day < (${before}::timestamptz at time zone 'UTC')::date
      limit ${limit} for update skip locked)
    returning 1`.execute(db)
  // As many as the fullest of the three: the caller goes on while it is a whole page.
  return Math.max(accounts.length, signals.length, scores.length)
}
