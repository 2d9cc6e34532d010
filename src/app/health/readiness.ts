import { privateKeyToAccount } from 'viem/accounts'
import { capsOf, coverOf, stepPrices } from '../../domain/planning/prices.ts'
import { atMostEvery, type HealthCheck } from '../../http/server/health-checks.ts'
import { pingDatabase } from '../../store/database/database.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { assertReachable } from '../context/assert-reachable.ts'

const serviceEveryMs = 10_000
const walletEveryMs = 30_000

/** Returns what a process must reach to take work at all. */
export function storeChecks(
  { database }: Pick<Context, 'database'>,
  { redis }: Pick<Engine, 'redis'>,
): Record<string, HealthCheck> {
  return {
    database: async () => void (await pingDatabase(database.db)),
    redis: async () => void (await redis.redis.ping()),
  }
}

/** Returns the checks of the web role. The chain and the service belong to others, so they are asked less often. */
export function readinessChecks(
  context: Pick<Context, 'config' | 'database' | 'chain'>,
  engine: Pick<Engine, 'redis'>,
): Record<string, HealthCheck> {
  const { config, chain } = context
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
    ...storeChecks(context, engine),
    service: atMostEvery(serviceEveryMs, service, nowMs),
    wallet: atMostEvery(walletEveryMs, wallet, nowMs),
  }
}
