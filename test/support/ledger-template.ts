import { cpSync } from 'node:fs'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openDatabase } from '../../src/store/database/database.ts'

const variable = 'PAYDIRT_TEST_LEDGER_TEMPLATE'

/**
 * Makes an empty embedded ledger once a test run, and returns what removes it. A first start of PGlite costs seconds of
 * both cores; a copy of what it leaves costs 25 milliseconds. Each project calls this; the first call of a run does the work.
 */
export async function makeLedgerTemplate(): Promise<() => Promise<void>> {
  if (process.env['DATABASE_URL'] || process.env[variable] !== undefined) return async () => {}
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-test-template-'))
  const database = await openDatabase({ dataDir: folder })
  // The ledger is in `postgres`. The two template databases are only needed to create further ones, and are two files of three.
  await sql`update pg_database set datistemplate = false, datallowconn = true`.execute(database.db)
  await sql`drop database template0`.execute(database.db)
  await sql`drop database template1`.execute(database.db)
  await sql`checkpoint`.execute(database.db)
  await database.close()
  // PGlite asks for 128 MB at each start and touches all of it, which takes longer than the rest of the start.
  await appendFile(join(folder, 'pglite', 'postgresql.conf'), '\nshared_buffers = 16MB\n')
  process.env[variable] = folder
  return () => rm(folder, { recursive: true, force: true })
}

/**
 * Puts an empty ledger into a data directory that has none yet. Without a template it is made at the first start.
 * The synchronous copy takes a quarter of the asynchronous one, which makes a task of each of hundreds of small files.
 */
export async function layLedger(dataDir: string): Promise<void> {
  const template = process.env[variable]
  if (template !== undefined) cpSync(template, dataDir, { recursive: true })
}
