import { afterAll } from 'vitest'
import { idleLedgers } from './idle-ledgers.ts'
import { closeKeptLedgers } from './kept-ledgers.ts'

// A setup file: it runs for each test file, where modules are loaded once for all files of a worker.
afterAll(async () => {
  await closeKeptLedgers()
  for (const ledger of idleLedgers.splice(0)) await ledger.close()
})
