import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { fileSchema, type FileConfig } from '../../src/app/config/file.ts'
import { createContext, type Overrides } from '../../src/app/context/context.ts'
import { enrichCsv, openInput } from '../../src/app/runs/enrich-csv.ts'
import type { Progress } from '../../src/app/runs/run-progress.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { layLedger } from './ledger-template.ts'
import type { MadeFile } from './spellings.ts'
import { freshStores } from './stores.ts'

/** Paydirt inside the test's own process, for tests of what it does rather than of how it starts and ends. */
export async function openHouse(
  sandbox: Sandbox,
  options: { env?: Record<string, string>; config?: FileConfig; overrides?: Overrides } = {},
) {
  const stores = await freshStores()
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAccount(walletKey).address
  await sandbox.fund(wallet, 20_000_000n)
  const folder = join(stores.dataDir, 'files')
  await mkdir(folder)
  await layLedger(join(stores.dataDir, 'data'))
  const env = {
    PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
    PAYDIRT_LOGO_URL: sandbox.logoUrl,
    PAYDIRT_RPC_URL: sandbox.rpcUrl,
    PAYDIRT_WALLET_KEY: walletKey,
    PAYDIRT_DATA_DIR: join(stores.dataDir, 'data'),
    PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
    PAYDIRT_LOG_LEVEL: 'silent',
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    ...options.env,
  }
  const settings = { pacing: { startPerSecond: 300 }, ...options.config }
  const config = resolveConfig(readEnvironment(env), fileSchema.parse(settings))
  const context = await createContext(config, options.overrides)

  let isOpen = true
  /** Leaves the ledger to another process. */
  async function leave(): Promise<void> {
    if (isOpen) await context.close()
    isOpen = false
  }

  return {
    context,
    variables: env,
    settings,
    leave,
    wallet,
    transfers: () => sandbox.transfersFrom(wallet),
    /** Returns the nonce of every charge that the ledger calls paid, to be held against those used on the chain. */
    async nonces() {
      const charges = await context.database.db
        .selectFrom('charges')
        .select('nonce')
        .where('state', 'in', ['settled', 'lost'])
        .execute()
      return charges.map(({ nonce }) => nonce).sort()
    },
    async enrich(
      file: Pick<MadeFile, 'csv'>,
      signal = new AbortController().signal,
      onProgress?: (progress: Progress) => void,
    ) {
      const [input, out] = [join(folder, 'in.csv'), join(folder, 'out.csv')]
      await writeFile(input, file.csv)
      const csv = await openInput(config, { input, object: 'company' })
      const { end, summary } = await enrichCsv(context, csv, { out, signal, onProgress })
      const rows =
        end === 'interrupted'
          ? []
          : (parse(await readFile(out), { columns: true, bom: true }) as Record<string, string>[])
      return { end, summary, rows }
    },
    async close() {
      await leave()
      await stores.cleanup()
    },
  }
}

export type House = Awaited<ReturnType<typeof openHouse>>
