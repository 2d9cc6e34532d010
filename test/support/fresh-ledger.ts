import { join } from 'node:path'
import type { LogEvent } from 'kysely'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { layLedger } from './ledger-template.ts'
import { freshStores } from './stores.ts'

/** An empty ledger of a test file's own, embedded or on the server of DATABASE_URL; `close` leaves nothing of it. */
export async function openFreshLedger(
  options: { onQuery?: (event: LogEvent) => void } = {},
): Promise<{ database: OpenDatabase; close: () => Promise<void> }> {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'data')
  await layLedger(dataDir)
  const database = await openDatabase({
    dataDir,
    ...(stores.databaseUrl ? { url: stores.databaseUrl } : {}),
    ...options,
  })
  return {
    database,
    async close() {
      await database.close()
      await stores.cleanup()
    },
  }
}
