import { sql, type RawBuilder } from 'kysely'
import type { Database } from './database.ts'
import { isEmbedded } from './embedded.ts'

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
/** A server keeps the plans of prepared statements, and these tables grow too. The embedded ledger's are made anew by age. */
const furtherOnServers = ['subject_names', 'list_rows', 'list_row_identities'] as const
/** For smaller tables every plan is good enough. */
const minBytes = 256 * 1_024
/** The detail in which a table is described; its sample is 300 times as many pages. */
const detail = 20
/** Ten rows a task, on pages that are compressed while they rest: a full sample held the embedded ledger's only connection for a second. */
const detailEmbedded: Readonly<Record<string, number>> = { field_writes: 5 }

/**
 * Keeps the planner's statistics current. Autovacuum analyses a table that a run fills only after about a minute, and PGlite
 * has no autovacuum. Until then the planner takes a table of 100,000 records for an empty one, and reads all of it instead of
 * an index. So each table is analysed again when it has doubled; a small sample is enough.
 */
export function createStatistics(db: Database): { refresh(): Promise<void> } {
  const seen = new Map<string, number>()
  return {
    async refresh() {
      const grown = isEmbedded(db) ? tables : [...tables, ...furtherOnServers]
      const { rows } = await sql<{ name: string; bytes: number }>`
        select relname as name, pg_relation_size(oid)::float8 as bytes from pg_class
        where oid = any(array[${sql.join(grown.map((table) => sql`${table}::regclass`))}])`.execute(db)
      for (const { name, bytes } of rows) {
        if (bytes < minBytes || bytes < 2 * (seen.get(name) ?? 0)) continue
        await db.transaction().execute(async (tx) => {
          const target = (isEmbedded(db) ? detailEmbedded[name] : undefined) ?? detail
          await sql`select set_config('default_statistics_target', ${String(target)}, true)`.execute(tx)
          await sql`analyze ${sql.table(name)}${await columnsFor(tx, name)}`.execute(tx)
        })
        seen.set(name, bytes)
      }
    },
  }
}

/**
 * On the embedded ledger, where it takes the thread of everything else, only the columns by which rows are found: to sort a sample of
 * answers and patches takes longer than all others together, and no condition asks for what is in them.
 */
async function columnsFor(db: Database, table: string): Promise<RawBuilder<unknown>> {
  if (!isEmbedded(db)) return sql``
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute join pg_type on pg_type.oid = atttypid
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped
      and typcategory <> 'A' and typname not in ('json', 'jsonb', 'tsvector') order by attnum`.execute(db)
  return sql` (${sql.join(rows.map(({ name }) => sql.ref(name)))})`
}
