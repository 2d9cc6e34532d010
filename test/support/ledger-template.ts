import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/store/database/database.ts'

const variable = 'PAYDIRT_TEST_LEDGER_TEMPLATE'

/**
 * Makes an empty embedded ledger once a test run. A first start of PGlite costs seconds of both cores; copying what it
 * leaves costs a tenth of one. Answers what takes it away again.
 */
export async function makeLedgerTemplate(): Promise<() => Promise<void>> {
  if (process.env['DATABASE_URL']) return async () => {}
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-test-template-'))
  const database = await openDatabase({ dataDir: folder })
  await database.close()
  process.env[variable] = folder
  return () => rm(folder, { recursive: true, force: true })
}

/** Puts an empty ledger into a data directory that has none yet; without a template it is made at the first start. */
export async function layLedger(dataDir: string): Promise<void> {
  const template = process.env[variable]
  if (template !== undefined) await cp(template, dataDir, { recursive: true })
}
