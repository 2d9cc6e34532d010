import { CompiledQuery, sql, type Kysely } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import type { Index, Migration, OnStep } from '../../migrations/migration.ts'

/**
 * Builds the indexes of a migration, drops those that they replace and validates its constraints, as far as that is not done.
 * It may be killed and repeated.
 */
export async function finishMigration(
  db: Kysely<Tables>,
  migration: Migration,
  { isShared, onStep }: { isShared: boolean; onStep: OnStep },
): Promise<void> {
  for (const index of migration.indexes ?? []) await buildIndex(db, index, { isShared, onStep })
  for (const index of migration.drops ?? []) await run(db, dropStatement(index, isShared))
  for (const { table, constraint } of migration.validates ?? []) {
    if (await isValidConstraint(db, table, constraint)) continue
    onStep(`${migration.name}: validating ${constraint} of ${table}`, 'info')
    // It locks out other changes of the schema alone; reads and writes go on.
    await sql`alter table ${sql.table(table)} validate constraint ${sql.id(constraint)}`.execute(db)
  }
}

/**
 * Crash windows: killed while an index is built concurrently, it is left invalid, and is dropped and built again; killed after
 * that and before the note, it is found valid.
 */
async function buildIndex(
  db: Kysely<Tables>,
  index: Index,
  { isShared, onStep }: { isShared: boolean; onStep: OnStep },
): Promise<void> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${index.name})`.execute(db)
  if (rows[0]?.valid) return
  if (rows.length > 0) {
    onStep(`index ${index.name} is left of an interrupted build: building it anew`, 'warn')
    await run(db, dropStatement(index.name, isShared))
  }
  onStep(`building index ${index.name}`, 'warn')
  await run(db, indexStatement(index, isShared))
}

/** Returns the SQL that builds an index: concurrently where other processes use the table. */
export function indexStatement({ name, on, isUnique }: Index, isShared: boolean): string {
  return `create ${isUnique ? 'unique ' : ''}index ${isShared ? 'concurrently ' : ''}if not exists ${name} on ${on}`
}

/** Returns the SQL that drops an index, if it is there: waiting for the queries that use it, and blocking none. */
export function dropStatement(name: string, isShared: boolean): string {
  return `drop index ${isShared ? 'concurrently ' : ''}if exists ${name}`
}

async function isValidConstraint(db: Kysely<Tables>, table: string, constraint: string): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select convalidated as valid from pg_constraint
    where conrelid = to_regclass(${table}) and conname = ${constraint}`.execute(db)
  if (rows[0] === undefined) throw new Error(`${table} has no constraint ${constraint}`)
  return rows[0].valid
}

async function run(db: Kysely<Tables>, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement))
}
