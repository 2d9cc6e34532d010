import { privateKeyToAccount } from 'viem/accounts'
import { capsOf, coverOf, stepPrices } from '../../domain/planning/prices.ts'
import { atMostEvery, type HealthCheck } from '../../http/routes/health.ts'
import { pingDatabase } from '../../store/database/database.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { assertReachable } from '../context/assert-reachable.ts'

const serviceEveryMs = 10_000
const walletEveryMs = 30_000

/** Returns the checks of `/readyz`. The chain and the service belong to others, so they are asked less often. */
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
    const cover = coverOf(balance, stepPrices(config.prices, capsOf(config.policy)))
    return cover?.cheapest.lookups === 0n ? 'the balance does not cover one lookup' : undefined
  }

  return {
    database: async () => void (await pingDatabase(database.db)),
    redis: async () => void (await redis.redis.ping()),
    service: atMostEvery(serviceEveryMs, service, nowMs),
    wallet: atMostEvery(walletEveryMs, wallet, nowMs),
  }
}
