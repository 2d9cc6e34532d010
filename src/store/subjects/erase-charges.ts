import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { rowForms } from '../database/row-forms.ts'
import type { Tables } from '../database/tables/schema.ts'

/** Erases what was asked and offered. Amounts, nonces, times and transactions stay: the accounts must still add up. */
export async function eraseCharges(tx: Transaction<Tables>, keys: readonly LookupKey[]): Promise<number> {
  if (keys.length === 0) return 0
  const rows = await tx
    .selectFrom('charges')
    .select(['id', 'authorization_json'])
    .where(paidFor(keys))
    .execute()
  const forms = rowForms(tx)
  for (const { id, authorization_json: authorization } of rows) {
    await tx
      .updateTable('charges')
      // The body of a batch is not taken apart: all of it is erased.
      .set({
        body: '',
        authorization_json: forms.authorization(JSON.stringify(withoutChallenge(authorization))),
      })
      .where('id', '=', id)
      .execute()
  }
  return rows.length
}

/** Returns what the accounts need of a closed charge. Its bytes are never built again. */
function withoutChallenge(authorization: Record<string, unknown>): Record<string, unknown> {
  const { raw: _, singleUse, ...terms } = authorization['terms'] as Record<string, unknown>
  return {
    ...authorization,
    terms: { ...terms, raw: {}, ...(singleUse ? { singleUse: { ...singleUse, digest: null } } : {}) },
  }
}

/** True for charges that paid for one of these lookups, by itself or in a batch. */
export function paidFor(keys: readonly LookupKey[]) {
  return sql<boolean>`lookup_key = any(${[...keys]}::text[] || array(
    select bundle_key from bundle_members where bundle_members.lookup_key = any(${[...keys]})))`
}
