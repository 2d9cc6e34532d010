import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql, type LogEvent } from 'kysely'
import { ConfigError, describeError } from '../../domain/errors.ts'
import { lockDataDir } from '../data-dir/data-dir-lock.ts'
import { makePrivate } from './private-files.ts'
import { migrate } from './migrate.ts'
import { createPGliteDialect } from './pglite-dialect.ts'
import type { Tables } from './tables/schema.ts'

export type Database = Kysely<Tables>

export interface OpenDatabase {
  db: Database
  kind: 'postgres' | 'pglite'
  close(): Promise<void>
}

const int8 = 20

/** Opens Postgres at `url`, or PGlite in the data directory when there is none, and brings the schema up to date. */
export async function openDatabase(options: {
  url?: string | undefined
  dataDir: string
  connections?: number | undefined
  /** Called with each statement after it ran. */
  onQuery?: ((event: LogEvent) => void) | undefined
}): Promise<OpenDatabase> {
  return options.url
    ? openPostgres(options.url, options.connections ?? 10, options.onQuery)
    : openPGlite(options.dataDir, options.onQuery)
}

type OnQuery = ((event: LogEvent) => void) | undefined

async function openPostgres(url: string, connections: number, onQuery: OnQuery): Promise<OpenDatabase> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 10_000,
    // Amounts are bigints everywhere; by default the driver returns them as strings.
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        oid === int8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  // The pool replaces an idle connection that breaks. Without a listener the error would end the process.
  pool.on('error', () => {})
  // A connection that breaks between two queries of a transaction also needs a listener; its next query reports the error.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: onQuery ?? [] })
  try {
    await pingDatabase(db)
  } catch (error) {
    await db.destroy()
    throw new ConfigError(
      'database_unreachable',
      `no PostgreSQL at ${address(url)} (DATABASE_URL): ${describeError(error)}`,
      { cause: error },
    )
  }
  await migrate(db)
  return { db, kind: 'postgres', close: () => db.destroy() }
}

async function openPGlite(dataDir: string, onQuery: OnQuery): Promise<OpenDatabase> {
  await makePrivate(dataDir)
  await mkdir(join(dataDir, 'pglite'), { recursive: true, mode: 0o700 })
  const lock = await lockDataDir(dataDir)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const { PrivateNodeFS } = await import('./pglite-files.ts')
    const fs = new PrivateNodeFS(join(dataDir, 'pglite'))
    const client = await PGlite.create({ fs, parsers: { [int8]: BigInt } })
    const db = new Kysely<Tables>({
      dialect: createPGliteDialect(client, () => lock.assertHeld()),
      log: onQuery ?? [],
    })
    await migrate(db)
    return {
      db,
      kind: 'pglite',
      async close() {
        await db.destroy()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Throws when the database does not respond. */
export async function pingDatabase(db: Database): Promise<void> {
  await sql`select 1`.execute(db)
}

/** Returns host and port only, because the URL may hold a password. */
function address(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the given address'
}
