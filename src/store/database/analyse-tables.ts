import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Those that a run fills. */
const tables = ['tasks', 'lookups', 'charges', 'field_writes', 'bundle_members'] as const
/** Below that every plan is good enough. */
const leastBytes = 256 * 1_024

/**
 * Postgres plans by what it knows of its tables. Of one that a run fills it learns when autovacuum comes by, a minute later,
 * and PGlite has none and never learns: until then it takes a table of 100,000 records for an empty one, and what should be
 * a look at an index reads all of it. So whatever has doubled is looked at again; a small sample is enough to tell.
 */
export function createStatistics(db: Database): { refresh(): Promise<void> } {
  const seen = new Map<string, number>()
  return {
    async refresh() {
      const { rows } = await sql<{ name: string; bytes: number }>`
        select relname as name, pg_relation_size(oid)::float8 as bytes from pg_class
        where oid = any(array[${sql.join(tables.map((table) => sql`${table}::regclass`))}])`.execute(db)
      for (const { name, bytes } of rows) {
        if (bytes < leastBytes || bytes < 2 * (seen.get(name) ?? 0)) continue
        await db.transaction().execute(async (tx) => {
          await sql`select set_config('default_statistics_target', '20', true)`.execute(tx)
          await sql`analyze ${sql.table(name)}`.execute(tx)
        })
        seen.set(name, bytes)
      }
    },
  }
}
