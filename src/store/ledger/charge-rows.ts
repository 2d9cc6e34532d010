import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Authorization, Charge } from '../../domain/payment.ts'
import type { Tables } from '../database/tables/schema.ts'

/**
 * The charges of each of these lookups, and of the batches in which it was a member. Used as `from ${paidFor(keys)}`, with
 * `wanted` as a column beside the charge's own. Each lookup has a list of keys instead of an `or`, which would use no index:
 * every purchase would then read all charges.
 */
export function paidFor(keys: readonly string[], columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`unnest(${[...keys]}::text[]) as asked (wanted) cross join lateral (
    select ${columns} from charges
    where lookup_key = any(array(select bundle_key from bundle_members where bundle_members.lookup_key = wanted) || wanted)
  ) as charge`
}

export function toCharge(row: Selectable<Tables['charges']>): Charge {
  return {
    id: row.id,
    lookupKey: row.lookup_key,
    attempt: row.attempt,
    runId: row.run_id,
    state: row.state,
    authorization: readAuthorization(row.authorization_json, row.amount_atomic),
    url: row.url,
    body: row.body,
    sends: row.sends,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    reason: row.reason,
  }
}

/** The amount has its own column, because JSON has no integers of that size. */
export function writeAuthorization(authorization: Authorization): string {
  const { amountAtomic: _, ...terms } = authorization.terms
  return JSON.stringify({ ...authorization, terms })
}

function readAuthorization(json: Record<string, unknown>, amountAtomic: bigint): Authorization {
  const authorization = json as unknown as Authorization
  return { ...authorization, terms: { ...authorization.terms, amountAtomic } }
}
