import { privateKeyToAccount } from 'viem/accounts'
import { atMostEvery, type HealthCheck } from '../../http/routes/health.ts'
import { pingDatabase } from '../../store/database/database.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { assertReachable } from '../context/assert-reachable.ts'

const serviceEveryMs = 10_000
const walletEveryMs = 30_000

/** What `/readyz` looks at. The chain and the service are other people's: they are asked now and then. */
export function readinessChecks(
  { config, database, chain }: Pick<Context, 'config' | 'database' | 'chain'>,
  { redis }: Pick<Engine, 'redis'>,
): Record<string, HealthCheck> {
  const nowMs = () => performance.now()
  const walletAddress = config.walletKey && privateKeyToAccount(config.walletKey).address

  async function service(): Promise<string | undefined> {
    if (config.serviceUrl === undefined) return 'PAYDIRT_SERVICE_URL is not set'
    await assertReachable('the data service', config.serviceUrl)
    return undefined
  }

  async function wallet(): Promise<string | undefined> {
    if (config.apiKey) return undefined
    if (walletAddress === undefined) return 'there is no wallet and no API key'
    const balance = await chain.balanceOf(walletAddress)
    return balance >= config.policy.maxPriceAtomic ? undefined : 'holds not enough for one lookup'
  }

  return {
    database: async () => void (await pingDatabase(database.db)),
    redis: async () => void (await redis.redis.ping()),
    service: atMostEvery(serviceEveryMs, service, nowMs),
    wallet: atMostEvery(walletEveryMs, wallet, nowMs),
  }
}
