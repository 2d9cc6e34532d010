import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { Migration } from '../../migrations/migration.ts'

/**
 * The migrations of a database. Those up to 0038 are in the table `migrations`; a program of that time refuses every other name
 * in it. Later ones are in `schema_changes`, each with the oldest program that runs on the schema after it.
 */
export interface SchemaState {
  /** By name; false: its indexes or validations are not finished. */
  applied: ReadonlyMap<string, boolean>
  /** Digits of the last migration that the oldest program must know. Undefined: no migration has excluded any. */
  oldestProgram: string | undefined
}

export type SchemaVerdict =
  | { kind: 'ready' }
  /** Migrated by a newer program, and this one still runs on it. */
  | { kind: 'newer'; unknown: string[] }
  | { kind: 'behind'; pending: Migration[] }

/** The last migration that is recorded where programs of before refuse what they do not know. */
const lastStrict = '0038'

export function isStrict(name: string): boolean {
  return digitsOf(name) <= lastStrict
}

export function digitsOf(name: string): string {
  return name.slice(0, 4)
}

/** Reads the state with no lock and no write. An empty database has an empty one. */
export async function readSchema(db: Kysely<Tables>): Promise<SchemaState> {
  const { rows: found } = await sql<{ strict: boolean; changes: boolean }>`
    select to_regclass('migrations') is not null as strict, to_regclass('schema_changes') is not null as changes`.execute(
    db,
  )
  const applied = new Map<string, boolean>()
  let oldestProgram: string | undefined
  if (found[0]?.strict) {
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
    for (const { name } of rows) applied.set(name, true)
  }
  if (found[0]?.changes) {
    const { rows } = await sql<{ name: string; done: boolean; oldest_program: string | null }>`
      select name, completed_at is not null as done, oldest_program from schema_changes`.execute(db)
    for (const { name, done, oldest_program: oldest } of rows) {
      applied.set(name, done)
      if (oldest !== null && oldest > (oldestProgram ?? '')) oldestProgram = oldest
    }
  }
  return { applied, oldestProgram }
}

/**
 * Compares a database with the migrations that this program knows. Throws ConfigError `newer_schema` where a newer program has
 * taken something away that this one needs.
 */
export function compareSchema(
  { applied, oldestProgram }: SchemaState,
  known: readonly Migration[],
): SchemaVerdict {
  const newest = digitsOf(known.at(-1)?.name ?? '0000')
  const unknown = [...applied.keys()].filter((name) => !known.some((migration) => migration.name === name))
  const strict = unknown.find(isStrict)
  if (strict !== undefined || (oldestProgram !== undefined && oldestProgram > newest)) {
    throw new ConfigError(
      'newer_schema',
      `the database was migrated by a newer paydirt (${strict ?? unknown.toSorted().at(-1)}), on whose schema this one does not run: it knows migrations up to ${newest}, and ${oldestProgram ?? strict} is needed. Start the newer version, or restore the backup from before it`,
    )
  }
  const pending = known.filter(({ name }) => applied.get(name) !== true)
  if (pending.length > 0) return { kind: 'behind', pending }
  return unknown.length > 0 ? { kind: 'newer', unknown: unknown.toSorted() } : { kind: 'ready' }
}
