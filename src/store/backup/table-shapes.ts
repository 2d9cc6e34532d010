import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { keptTables } from '../retention/register.ts'

/** A table with the columns that a row is written from; columns that the database generates are not among them. */
export interface TableShape {
  table: string
  columns: { name: string; type: string }[]
}

/** The lists of migrations are not data: the restored database makes its own. Tables of others in the schema are not ours to copy. */
const ledgerTables = keptTables
  .map(({ table }) => table)
  .filter((table) => table !== 'migrations' && table !== 'schema_changes')

/** Returns the tables of the ledger by name. */
export async function tableShapes(db: Database): Promise<TableShape[]> {
  const { rows } = await sql<{ table: string; name: string; type: string }>`
    select relname as table, attname as name, format_type(atttypid, atttypmod) as type
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and attnum > 0 and not attisdropped and attgenerated = '' and relname = any(${ledgerTables}::text[])
    order by relname, attnum`.execute(db)
  const byTable = Map.groupBy(rows, ({ table }) => table)
  return [...byTable].map(([table, columns]) => ({
    table,
    columns: columns.map(({ name, type }) => ({ name, type })),
  }))
}

export interface SequenceState {
  sequence: string
  /** Null: nothing was ever drawn from it. */
  value: string | null
}

export async function sequenceStates(db: Database): Promise<SequenceState[]> {
  const { rows } = await sql<SequenceState>`
    select sequencename as sequence, last_value::text as value from pg_sequences
    where schemaname = current_schema() and sequencename in (
      select own.relname from pg_class as own
      join pg_depend on pg_depend.classid = 'pg_class'::regclass and pg_depend.objid = own.oid
      join pg_class as owner on owner.oid = pg_depend.refobjid
      where own.relkind = 'S' and owner.relname = any(${ledgerTables}::text[]))
    order by 1`.execute(db)
  return rows
}
