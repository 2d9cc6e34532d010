import { CompiledQuery, sql, type Transaction } from 'kysely'
import { InputError } from '../../domain/errors.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { tableShapes, type SequenceState, type TableShape } from './table-shapes.ts'
import type { BackupLine } from './write-backup.ts'

/** Rows are sent together up to this size, in characters. */
const batchLength = 500_000
const batchRows = 2_000

/** Returns the tables that have rows. Those that a start fills by itself count too: they are not empty of somebody's work. */
export async function filledTables(db: Database): Promise<string[]> {
  const shapes = await tableShapes(db)
  const looks = shapes.map(
    ({ table }) => sql`select ${sql.lit(table)} as name where exists (select from ${sql.table(table)})`,
  )
  const { rows } = await sql<{ name: string }>`${sql.join(looks, sql` union all `)}`.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * Puts the lines of a backup into an empty ledger with the same migrations. Crash window: none. Everything is one transaction,
 * `finish` included; killed before its commit, the ledger is empty.
 */
export async function loadBackup(
  db: Database,
  lines: AsyncIterable<BackupLine>,
  {
    finish,
    onTable,
  }: { finish: (tx: Transaction<Tables>) => Promise<void>; onTable: (table: string) => void },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`set local timezone = 'UTC'`.execute(tx)
    await sql`set local datestyle = 'ISO'`.execute(tx)
    // Rows refer to rows of any table, and of their own: the references are checked once, when all are in.
    const references = await dropReferences(tx)
    const known = new Map((await tableShapes(tx)).map((shape) => [shape.table, shape]))
    let loaded = 0
    let into: TableShape | undefined
    let waiting: (string | null)[][] = []
    let length = 0
    async function flush(): Promise<void> {
      if (waiting.length > 0) await inserting(into, (shape) => insertRows(tx, shape, waiting))
      loaded += waiting.length
      waiting = []
      length = 0
    }
    for await (const line of lines) {
      if (Array.isArray(line)) {
        waiting.push(line)
        length += line.reduce((sum, text) => sum + (text?.length ?? 4), 0)
        if (length > batchLength || waiting.length >= batchRows) await flush()
      } else if ('table' in line) {
        await flush()
        into = checkedShape(line, known)
        onTable(line.table)
      } else {
        await flush()
        await setSequence(tx, line)
      }
    }
    await flush()
    for (const { table, name, definition } of references)
      await inserting({ table, columns: [] }, () =>
        tx.executeQuery(
          CompiledQuery.raw(
            `alter table ${table} add constraint "${name.replaceAll('"', '""')}" ${definition}`,
          ),
        ),
      )
    await finish(tx)
    return loaded
  })
}

/** The database's own words about a row that it refuses have its values in them, which may name a person. */
async function inserting(
  shape: TableShape | undefined,
  work: (shape: TableShape) => Promise<unknown>,
): Promise<void> {
  if (!shape) throw new InputError('bad_backup', 'the backup has rows of no table')
  try {
    await work(shape)
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code !== 'string' || !/^2[23]/.test(code)) throw error
    throw new InputError(
      'bad_backup',
      `the backup has rows that its table does not take: ${shape.table} (${code})`,
    )
  }
}

interface Reference {
  table: string
  name: string
  definition: string
}

async function dropReferences(tx: Transaction<Tables>): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by 1, 2`.execute(
    tx,
  )
  for (const { table, name } of rows)
    await sql`alter table ${sql.raw(table)} drop constraint ${sql.id(name)}`.execute(tx)
  return rows
}

/** Names go into statements, so they are taken from the database's own table, never from the file. */
function checkedShape({ table, columns }: TableShape, known: ReadonlyMap<string, TableShape>): TableShape {
  const own = known.get(table)
  const mine = (name: string) => own?.columns.find((column) => column.name === name)
  const checked = columns.map(({ name }) => mine(name))
  if (!own || checked.some((column) => column === undefined))
    throw new InputError('bad_backup', `the backup has a table that this schema does not: ${table}`)
  return { table: own.table, columns: checked as TableShape['columns'] }
}

async function insertRows(
  tx: Transaction<Tables>,
  { table, columns }: TableShape,
  rows: readonly (string | null)[][],
): Promise<void> {
  const values = columns.map(({ type }, index) => sql`(line ->> ${sql.lit(index)})::${sql.raw(type)}`)
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.id(name)))}) overriding system value
    select ${sql.join(values)} from json_array_elements(${JSON.stringify(rows)}::json) as line`.execute(tx)
}

async function setSequence(tx: Transaction<Tables>, { sequence, value }: SequenceState): Promise<void> {
  if (value === null) return
  await sql`select setval(format('%I.%I', schemaname, sequencename)::regclass, ${value}::bigint)
    from pg_sequences where schemaname = current_schema() and sequencename = ${sequence}`.execute(tx)
}

/** Tells the database how many rows there are: without it the first statements would read whole tables. */
export async function analyseAll(db: Database): Promise<void> {
  await sql`analyze`.execute(db)
}
