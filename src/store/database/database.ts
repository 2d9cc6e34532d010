import type { PGlite } from '@electric-sql/pglite'
import { Kysely, sql, type LogEvent } from 'kysely'
import { ConfigError, describeError } from '../../domain/errors.ts'
import { lockDataDir } from '../data-dir/data-dir-lock.ts'
import { noteForm } from '../packed/ledger-adapter.ts'
import { readJson } from '../packed/packed-json.ts'
import { createLedgerPages, keepsPages, type LedgerPages } from '../pages/compress-pages.ts'
import { makePrivate } from './private-files.ts'
import { migrate, type MigratedBy } from './migrating/migrate.ts'
import type { OnStep } from '../migrations/migration.ts'
import { createPGliteDialect } from './pglite/dialect.ts'
import { pgliteModule } from './pglite/module.ts'
import { databaseAddresses, hostsOf } from './postgres/addresses.ts'
import { createLedgerDialect } from './postgres/dialect.ts'
import { noLimits, type ConnectionLimits } from './postgres/limits.ts'
import { createLedgerPool, type PoolOptions } from './postgres/pool.ts'
import type { Tables } from './tables/schema.ts'

export type Database = Kysely<Tables>

export interface OpenDatabase {
  db: Database
  kind: 'postgres' | 'pglite'
  /** Only of an embedded ledger. */
  pages?: LedgerPages
  close(): Promise<void>
}

/** By the type's number: int8, json, jsonb. */
const parsers = { 20: BigInt, 114: readJson, 3802: readJson }

const embeddedSettings = [
  // The pages of tables that PGlite keeps in this process. Its own choice, 128 MB, is resident soon and for good; what is not
  // among these pages is in the system's cache of files, some microseconds away.
  'shared_buffers=32MB',
  // Its memory never shrinks, so an index is built in little of it.
  'maintenance_work_mem=16MB',
  // A checkpoint keeps so much of the log for the next changes; by default all that was written before it, 200 MB for good.
  // When a checkpoint is taken is not theirs to say (checkpoint.ts).
  'max_wal_size=64MB',
  'min_wal_size=32MB',
  // A new file of the log is written once and not twice: filled with zeros it is safe from a full disk, but so is no table.
  'wal_init_zero=off',
  // So near, a page out of its order costs what any other does. By default it counts four times, and a group of charges, which
  // is known by its ids, was found by reading all of them.
  'random_page_cost=1.1',
].flatMap((setting) => ['-c', setting])

/** The connections of one process to Postgres. */
export interface Connections {
  /** The most at a time. */
  most: number
  /** The name under which the server lists them. */
  applicationName: string
  limits: ConnectionLimits
}

const defaultConnections: Connections = { most: 10, applicationName: 'paydirt', limits: noLimits }

/** Opens Postgres at `url`, or PGlite in the data directory when there is none, and brings the schema up to date. */
export async function openDatabase(options: {
  url?: string | undefined
  dataDir: string
  connections?: Connections | undefined
  /** Called with each statement after it ran. */
  onQuery?: ((event: LogEvent) => void) | undefined
  /** By default this process migrates. */
  migratedBy?: MigratedBy | 'caller' | undefined
  /** Called with a line for a person at each step of a migration. */
  onMigration?: OnStep | undefined
}): Promise<OpenDatabase> {
  const { migratedBy: by, onMigration: onStep } = options
  // The caller reads the schema, and migrates it itself or leaves it as it is.
  const bringUp: BringUp = async (db, isShared) => {
    if (by === 'caller') return
    // Another process cannot migrate an embedded database: this one has the data directory.
    const self = by === 'others' && !isShared ? 'self' : by
    await migrate(db, { isShared, by: self, onStep })
  }
  return options.url
    ? openPostgres(options.url, options.connections ?? defaultConnections, options.onQuery, bringUp)
    : openPGlite(options.dataDir, options.onQuery, bringUp)
}

type BringUp = (db: Database, isShared: boolean) => Promise<void>

type OnQuery = ((event: LogEvent) => void) | undefined

async function openPostgres(
  url: string,
  connections: Connections,
  onQuery: OnQuery,
  bringUp: BringUp,
): Promise<OpenDatabase> {
  const addresses = databaseAddresses(url)
  if (!addresses) throw new ConfigError('bad_environment', 'DATABASE_URL is not a postgres:// URL')
  const { most, applicationName, limits } = connections
  const open = async (options: Pick<PoolOptions, 'connections' | 'limits'>) => {
    const pool = await createLedgerPool({ ...addresses, ...options, applicationName })
    return new Kysely<Tables>({ dialect: createLedgerDialect(pool), log: onQuery ?? [] })
  }
  // Migrations take as long as they take, and wait for each other.
  const first = await open({ connections: 4, limits: noLimits })
  try {
    await pingDatabase(first).catch((error: unknown) => {
      throw new ConfigError(
        'database_unreachable',
        `no PostgreSQL at ${hostsOf(url)} (DATABASE_URL): ${describeError(error)}`,
        { cause: error },
      )
    })
    await bringUp(first, true)
  } finally {
    await first.destroy()
  }
  const db = await open({ connections: most, limits })
  const close = () => db.destroy()
  await noteForm(db).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return { db, kind: 'postgres', close }
}

async function openPGlite(dataDir: string, onQuery: OnQuery, bringUp: BringUp): Promise<OpenDatabase> {
  await makePrivate(dataDir)
  const lock = await lockDataDir(dataDir)
  let client: PGlite | undefined
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const { LedgerFiles } = await import('./pglite/files.ts')
    const { databaseFolder } = await import('./pglite/make-database.ts')
    const fs = new LedgerFiles(await databaseFolder(dataDir))
    const startParams = [...PGlite.defaultStartParams, ...embeddedSettings]
    const pgliteWasmModule = await pgliteModule()
    client = await PGlite.create({ fs, startParams, parsers, ...(pgliteWasmModule && { pgliteWasmModule }) })
    const db = new Kysely<Tables>({
      dialect: createPGliteDialect(client, () => lock.assertHeld()),
      log: onQuery ?? [],
    })
    await bringUp(db, false)
    if (await keepsPages(db)) fs.paged.begin()
    return {
      db,
      kind: 'pglite',
      pages: createLedgerPages(fs.paged),
      async close() {
        await db.destroy()
        await lock.release()
      },
    }
  } catch (error) {
    // Left open, its timers would keep the process alive.
    await client?.close()
    await lock.release()
    throw error
  }
}

/** Throws when the database does not respond. */
export async function pingDatabase(db: Database): Promise<void> {
  await sql`select 1`.execute(db)
}
