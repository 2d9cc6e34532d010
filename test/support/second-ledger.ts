import { join } from 'node:path'
import { layLedger } from './ledger-template.ts'
import { freshStores } from './stores.ts'

/** An empty ledger beside a desk's own: the environment of the desk's commands that are to use it. */
export async function openSecondLedger() {
  const { dataDir, databaseUrl, redisPrefix, cleanup } = await freshStores()
  const data = join(dataDir, 'data')
  await layLedger(data)
  const env = { PAYDIRT_DATA_DIR: data, DATABASE_URL: databaseUrl, PAYDIRT_REDIS_PREFIX: redisPrefix }
  return { env, cleanup }
}
