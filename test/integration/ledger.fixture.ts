import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

let stores: FreshStores
export let database: OpenDatabase
/** Tests move it. */
export const clock = { now: new Date(0) }
export const now = () => clock.now

const open = () =>
  openDatabase({
    dataDir: join(stores.dataDir, 'data'),
    ...(stores.databaseUrl ? { url: stores.databaseUrl } : {}),
  })

/** Opens one ledger for the tests of the calling file, each of which begins at the same time. */
export function useLedger(): void {
  beforeAll(async () => {
    stores = await freshStores()
    await layLedger(join(stores.dataDir, 'data'))
    database = await open()
  })
  afterAll(async () => {
    await database.close()
    await stores.cleanup()
  })
  beforeEach(() => void (clock.now = new Date('2026-05-05T05:05:05Z')))
}

export const newRun = (lookups: number, options: { connector?: string } = {}) =>
  openLedgerRun(database, { lookups, now, ...options })

export const found = {
  outcome: 'found',
  data: { company_name: 'Acme' },
  freshUntil: new Date('2026-08-01'),
} as const

export const unlimited = 2n ** 63n - 1n
