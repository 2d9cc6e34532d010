import { sql } from 'kysely'
import type { Database } from './database.ts'

/** The tables that a run fills. */
const tables = [
  'tasks',
  'lookups',
  'charges',
  'field_writes',
  'bundle_members',
  'task_words',
  'record_identities',
] as const
/** For smaller tables every plan is good enough. */
const minBytes = 256 * 1_024

/**
 * Keeps the planner's statistics current. Autovacuum analyses a table that a run fills only after about a minute, and PGlite
 * has no autovacuum. Until then the planner takes a table of 100,000 records for an empty one, and reads all of it instead of
 * an index. So each table is analysed again when it has doubled; a small sample is enough.
 */
export function createStatistics(db: Database): { refresh(): Promise<void> } {
  const seen = new Map<string, number>()
  return {
    async refresh() {
      const { rows } = await sql<{ name: string; bytes: number }>`
        select relname as name, pg_relation_size(oid)::float8 as bytes from pg_class
        where oid = any(array[${sql.join(tables.map((table) => sql`${table}::regclass`))}])`.execute(db)
      for (const { name, bytes } of rows) {
        if (bytes < minBytes || bytes < 2 * (seen.get(name) ?? 0)) continue
        await db.transaction().execute(async (tx) => {
          await sql`select set_config('default_statistics_target', '20', true)`.execute(tx)
          await sql`analyze ${sql.table(name)}`.execute(tx)
        })
        seen.set(name, bytes)
      }
    },
  }
}
