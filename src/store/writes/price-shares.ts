import { sql, type RawBuilder } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'

/** The cost of a lookup, less the shares that earlier writes have taken of it. */
export interface Unshared {
  lookup_key: LookupKey
  currency: string | null
  amount: string
}

/**
 * Locks lookups, so that the second of two batches sees the shares of their cost that the first has taken. It needs a statement of its own,
 * in front of the one that reads the shares.
 */
export function lockLookups(keys: readonly LookupKey[]): RawBuilder<unknown> {
  return sql`
    select key from lookups where key = any(${[...keys]}::text[]) order by key collate "C" for no key update`
}

/**
 * Returns for each lookup that was paid for how much of its cost no write has taken yet. It is read by itself, so that the statement
 * that shares it has a list of known length: it took the sums for one row, and read them again for each field.
 */
export function unshared(keys: readonly LookupKey[]): RawBuilder<Unshared> {
  return sql<Unshared>`
    with paid as (
      select lookup_key, max(currency) as currency, sum(amount_atomic) as amount from charge_shares
      where lookup_key = any(${[...keys]}::text[]) and state = 'settled' group by lookup_key
    ), taken as (
      select lookup_key, sum(price_atomic) as amount from field_writes
      where lookup_key = any(${[...keys]}::text[]) group by lookup_key
    )
    select paid.lookup_key, currency, greatest(paid.amount - coalesce(taken.amount, 0), 0)::bigint::text as amount
    from paid left join taken using (lookup_key)`
}

/**
 * The share of a field in an amount; it is number `part` of the `parts` that the lookup fills now. The cost of a lookup, less the shares
 * of earlier writes, is shared equally among them; the remainder goes to the first ones. The shares of a lookup never
 * add up to more than was paid for it.
 */
export function shareOf(amount: RawBuilder<unknown>): RawBuilder<string> {
  return sql`${amount} / parts + case when part <= ${amount} % parts then 1 else 0 end`
}
