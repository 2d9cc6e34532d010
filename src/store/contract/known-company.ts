import type { Database } from '../database/database.ts'

const pageSize = 20

/** Returns the website of the company that was found last; undefined where the ledger has none. */
export async function lastFoundDomain(db: Database): Promise<string | undefined> {
  for (let offset = 0; ; offset += pageSize) {
    const rows = await db
      .selectFrom('lookups')
      .select('answer')
      .where('operation', 'in', ['company.lookup', 'company.profile', 'company.enrich'])
      .where('state', '=', 'answered')
      .where('outcome', '=', 'found')
      .where('answer', 'is not', null)
      .orderBy('answered_at', 'desc')
      .orderBy('key')
      .limit(pageSize)
      .offset(offset)
      .execute()
    for (const { answer } of rows) {
      const domain = answer?.['domain']
      if (typeof domain === 'string' && domain !== '') return domain
    }
    if (rows.length < pageSize) return undefined
  }
}
