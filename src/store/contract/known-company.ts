import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** Returns the website of the company that was found last; undefined where the ledger has none. */
export async function lastFoundDomain(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ domain: string }>`
    select answer->>'domain' as domain from lookups
    where operation in ('company.lookup', 'company.profile', 'company.enrich') and state = 'answered' and outcome = 'found'
      and answer->>'domain' <> ''
    order by answered_at desc limit 1`.execute(db)
  return rows[0]?.domain
}
