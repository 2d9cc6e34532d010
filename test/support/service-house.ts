import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Server } from '../faults/servers.ts'
import { paydirt, startPaydirt, type Running, type Settings } from './cli.ts'
import { openHttpGate } from './http-gate.ts'
import { freshStores } from './stores.ts'

/**
 * The parts that the services of one installation share: a database, a place in Redis, a wallet, a HubSpot account and a config file.
 * The services themselves are processes of their own, started as somebody would by hand.
 */
export async function openServiceHouse(
  servers: { redis: Pick<Server, 'url'>; postgres: Pick<Server, 'url'> },
  sandbox: Sandbox,
  config: FileConfig,
) {
  const stores = await freshStores({ DATABASE_URL: servers.postgres.url, REDIS_URL: servers.redis.url })
  const hubspot = await startHubspotStandIn({
    companies: 0,
    contacts: 0,
    limits: { searchPerSecond: 1_000, perTenSeconds: 10_000 },
  })
  const gate = await openHttpGate(hubspot.baseUrl)
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAccount(walletKey).address
  await sandbox.fund(wallet, 10_000_000n)
  await writeFile(join(stores.dataDir, 'paydirt.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  const crm = { HUBSPOT_BASE_URL: gate.url, HUBSPOT_ACCESS_TOKEN: hubspot.token }
  const settings: Settings = { stores, sandbox, walletKey, env: { ...crm, PAYDIRT_PORT: '0' } }
  const started: Running[] = []
  let companies = 0

  return {
    stores,
    hubspot,
    /** Between the services and HubSpot. */
    gate,
    wallet,
    /** The same as the services see it, for a context in the test's own process. */
    environment: {
      ...crm,
      PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
      PAYDIRT_RPC_URL: sandbox.rpcUrl,
      PAYDIRT_WALLET_KEY: walletKey,
      PAYDIRT_DATA_DIR: join(stores.dataDir, 'data'),
      PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
      PAYDIRT_LOG_LEVEL: 'silent',
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
    },
    /** Companies that no other test asks for, each with a profile to look up. Answers their ids. */
    addCompanies(count: number): string[] {
      return Array.from({ length: count }, () => {
        const profile = `https://www.profnet.example/company/worked-${stores.redisPrefix}-${companies}`
        const properties = { name: `C ${companies++}`, profnet_url: profile }
        return hubspot.store.add('companies', { properties }).id
      })
    },
    company: (id: string) => hubspot.store.get('companies', id)?.properties ?? {},
    /** `program`: that of another version. */
    start(role: string, program?: string): Running {
      const service = startPaydirt(['start', '--role', role], {
        ...settings,
        ...(program ? { program } : {}),
      })
      started.push(service)
      return service
    },
    /** Runs a command of another version to its end. */
    runBy: (program: string, args: readonly string[]) => startPaydirt(args, { ...settings, program }).ended,
    run: (args: readonly string[]) => paydirt(args, settings),
    async close() {
      for (const service of started) service.kill('SIGKILL')
      await Promise.all(started.map(({ ended }) => ended))
      await gate.stop()
      await hubspot.stop()
      await stores.cleanup()
    },
  }
}
