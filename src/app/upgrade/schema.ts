import { openDatabase, type OpenDatabase } from '../../store/database/database.ts'
import { dropStatement, indexStatement } from '../../store/database/migrating/finish-migration.ts'
import { migrate } from '../../store/database/migrating/migrate.ts'
import type { Migration, OnStep } from '../../store/migrations/migration.ts'
import { migrations } from '../../store/database/migrating/migrations.ts'
import { compareSchema, digitsOf, readSchema } from '../../store/database/migrating/schema-state.ts'
import type { Config } from '../config/config.ts'

/** The steps between a database and this version. */
export interface SchemaPlan {
  database: 'postgres' | 'pglite'
  /** empty: nothing was ever there. newer: a newer version migrated it, and this one runs on it. */
  state: 'empty' | 'behind' | 'current' | 'newer'
  /** Digits of its newest migration; null in an empty database. */
  at: string | null
  /** Digits of the newest migration that this version knows. */
  to: string
  pending: PendingMigration[]
  /** The names of migrations that only a newer version knows. */
  newer: string[]
}

interface PendingMigration {
  name: string
  /** SQL of one transaction; empty where a migration has none. Null: it was applied, and what follows was interrupted. */
  sql: string | null
  /** SQL that runs after it, beside reads and writes. */
  after: string[]
  /** Versions before this migration run on the schema after it. */
  expands: boolean
}

/** Reads what a migration would do. Changes nothing. Throws ConfigError `newer_schema` as a start does. */
export function planSchema(config: Config): Promise<SchemaPlan> {
  return withDatabase(config, plan)
}

/** Brings the schema up to date, or waits for the process that does. Returns what was to be done before. */
export function bringSchemaUp(config: Config, onStep: OnStep): Promise<SchemaPlan> {
  return withDatabase(config, async (database) => {
    const before = await plan(database)
    await migrate(database.db, { isShared: database.kind === 'postgres', onStep })
    return before
  })
}

async function plan({ db, kind }: OpenDatabase): Promise<SchemaPlan> {
  const schema = await readSchema(db)
  const verdict = compareSchema(schema, migrations)
  const at = [...schema.applied.keys()].toSorted().at(-1)
  const state = { ready: 'current', newer: 'newer', behind: at === undefined ? 'empty' : 'behind' } as const
  return {
    database: kind,
    state: state[verdict.kind],
    at: at === undefined ? null : digitsOf(at),
    to: digitsOf(migrations.at(-1)?.name ?? ''),
    pending:
      verdict.kind === 'behind'
        ? verdict.pending.map((migration) => describe(migration, schema.applied.has(migration.name), kind))
        : [],
    newer: verdict.kind === 'newer' ? verdict.unknown : [],
  }
}

function describe(migration: Migration, isApplied: boolean, kind: OpenDatabase['kind']): PendingMigration {
  const { name, statements, indexes = [], drops = [], validates = [], oldestProgram } = migration
  return {
    name,
    sql: isApplied ? null : statements.trim(),
    after: [
      ...indexes.map((index) => indexStatement(index, kind === 'postgres')),
      ...drops.map((index) => dropStatement(index, kind === 'postgres')),
      ...validates.map(({ table, constraint }) => `alter table ${table} validate constraint ${constraint}`),
    ],
    expands: oldestProgram === undefined,
  }
}

async function withDatabase<T>(config: Config, work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl: url } = config
  const database = await openDatabase({ dataDir, url, migratedBy: 'caller' })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
