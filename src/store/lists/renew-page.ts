import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'
import type { ListFetch } from './list-fetches.ts'
import { lockFetch, storeFetch } from './take-page.ts'

/**
 * Sets the answer of a page aside that the ledger has, because a person has asked for its pages to be bought again (`--again`). Does it
 * once a page and fetch. The answer itself stays until the new one is stored.
 *
 * Crash windows, all of one page:
 * - Killed before this transaction: the page is as it was, and the fetch that goes on comes here again.
 * - The answer is made stale and the page noted as renewed in one transaction. Killed after it, before the page is bought: nothing is
 *   paid, and whoever wants the page buys it, once. The fetch that goes on finds it renewed, and sets no newer answer aside.
 * - Killed while it is bought: the windows of any lookup. Its answer is fresh, and is read in without another purchase.
 * - Two processes that carry the same fetch on: the second waits for the lock of the fetch, and finds the page renewed.
 */
export async function renewPage(
  db: Database,
  fetchId: string,
  { part, page, key }: { part: number; page: number; key: LookupKey },
  { now }: { now: () => Date },
): Promise<ListFetch> {
  return db.transaction().execute(async (tx) => {
    const fetch = await lockFetch(tx, fetchId)
    const before = fetch.parts[part]
    if (!before || fetch.endedAt !== null || (before.renewed ?? 0) >= page) return fetch
    const at = now()
    await sql`
      update lookups set fresh_until = ${at}
      where key = ${key} and state = 'answered' and fresh_until > ${at}`.execute(tx)
    return storeFetch(tx, { ...fetch, parts: fetch.parts.with(part, { ...before, renewed: page }) })
  })
}
