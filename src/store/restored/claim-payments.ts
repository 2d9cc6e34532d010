import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Tables } from '../database/tables/schema.ts'

type Tx = Transaction<Tables>

/** Before the nonce: the key of the lookup under which a payment from the chain is booked until its own claims it. */
export const unclaimedPrefix = 'restored|'

/** A charge of the ledger that has a nonce which was drawn now. */
export interface Drawn {
  id: string
  nonce: string
  /** A payment from the chain that no lookup has claimed. False: a charge of this ledger, such as one of a forgotten subject. */
  isUnclaimed: boolean
  amountAtomic: Atomic
  payTo: string | null
  validAfter: number
  validBefore: number
}

export async function findDrawn(tx: Tx, nonces: readonly string[]): Promise<Map<string, Drawn>> {
  const { rows } = await sql<Drawn>`
    select id, nonce, starts_with(lookup_key, ${unclaimedPrefix}) as "isUnclaimed", amount_atomic as "amountAtomic",
      pay_to as "payTo", (authorization_json ->> 'validAfter')::int as "validAfter",
      (authorization_json ->> 'validBefore')::int as "validBefore"
    from charges where nonce = any(${[...nonces]}::text[])`.execute(tx)
  return new Map(rows.map((row) => [row.nonce, row]))
}

/** A payment from the chain, with the lookup that has turned out to be its own. */
export interface Claim {
  id: string
  nonce: string
  lookup_key: LookupKey
  attempt: number
  run_id: string
  connector: string
  operation: string
  endpoint: string
  url: string
  body: string
  authorization_text: string
}

/**
 * Gives payments to their lookups. They are in doubt from then on: the answer is asked for with the same bytes, where the
 * service keeps it, and is lost otherwise. The budgets leave them out: they were counted when they were made.
 */
export async function claimPayments(tx: Tx, claims: readonly Claim[], at: Date): Promise<void> {
  if (claims.length === 0) return
  await sql`
    update charges set state = 'in_doubt', reason = 'bought after the backup', lookup_key = claim.lookup_key,
      attempt = claim.attempt, run_id = claim.run_id, connector = claim.connector, operation = claim.operation,
      endpoint = claim.endpoint, url = claim.url, body = claim.body, authorization_json = claim.authorization_text::json,
      touched_at = ${at}, closed_at = null, sends = 1
    from jsonb_to_recordset(${JSON.stringify(claims)}::jsonb) as claim (id text, lookup_key text, attempt int, run_id text,
      connector text, operation text, endpoint text, url text, body text, authorization_text text)
    where charges.id = claim.id`.execute(tx)
  const placeholders = claims.map(({ nonce }) => `${unclaimedPrefix}${nonce}`)
  await sql`delete from lookups where key = any(${placeholders}::text[])`.execute(tx)
}
