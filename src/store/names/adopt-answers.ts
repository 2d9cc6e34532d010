import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import { freshAnswers, type NamedTwice } from './same-questions.ts'

/**
 * Answers lookups that wait with the fresh answer that the ledger has under another name of their subject. Nothing is paid:
 * the answer keeps its age, and the charge stays with the lookup that paid for it. Returns the lookups that are answered now.
 * A lookup that may have been paid for itself, alone or in a batch, is left to its own answer.
 */
export async function adoptAnswers(
  db: Database,
  pairs: readonly NamedTwice[],
  at: Date,
): Promise<Set<LookupKey>> {
  if (pairs.length === 0) return new Set()
  const { rows } = await sql<{ key: LookupKey }>`
    with best as materialized (select * from ${freshAnswers(pairs, at)}), locked as materialized (
      select key from lookups where key in (select asked from best) order by key collate "C" for no key update
    )
    update lookups set state = 'answered', outcome = best.outcome, answer = best.answer, answered_at = best.answered_at,
      fresh_until = best.fresh_until, reason = null, code = null, queued_until = null
    from best join locked on locked.key = best.asked
    where lookups.key = best.asked and lookups.state in ('waiting', 'parked') and lookups.bundle_key is null
      and lookups.query_id is null and not exists (select 1 from charges
        where charges.lookup_key = lookups.key and charges.state = any(${[...openChargeStates]}::text[]))
    returning lookups.key`.execute(db)
  return new Set(rows.map(({ key }) => key))
}
