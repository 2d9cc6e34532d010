import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Authorization, Charge } from '../../domain/payment.ts'
import type { Tables } from '../database/tables/schema.ts'

/**
 * The charges of each of these lookups, and of the batches in which it was a member. Used as `from ${paidFor(keys)}`, with
 * `wanted` as a column beside the charge's own. Each lookup has a list of keys instead of an `or`, which would use no index:
 * every purchase would then read all charges. `offset 0` keeps the conditions around it out: by its states and times a lookup's
 * charges were looked for in other indexes beside its own, each with all charges of the day.
 */
export function paidFor(keys: readonly string[], columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`unnest(${[...keys]}::text[]) as asked (wanted) cross join lateral (
    select ${columns} from charges
    where lookup_key = any(array(select bundle_key from bundle_members where bundle_members.lookup_key = wanted) || wanted)
    offset 0
  ) as charge`
}

/** The columns that `toCharge` reads. */
const chargeColumns = [
  'id',
  'lookup_key',
  'attempt',
  'run_id',
  'state',
  'authorization_json',
  'amount_atomic',
  'url',
  'body',
  'sends',
  'created_at',
  'sent_at',
  'reason',
] as const

export type ChargeRow = Pick<Selectable<Tables['charges']>, (typeof chargeColumns)[number]>

/** For a statement that reads charges for `toCharge`, and these columns beside them. */
export function columnsOfCharge(...beside: readonly (keyof Tables['charges'])[]): RawBuilder<unknown> {
  return sql.join([...chargeColumns, ...beside].map((column) => sql.ref(column)))
}

export function toCharge(row: ChargeRow): Charge {
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
