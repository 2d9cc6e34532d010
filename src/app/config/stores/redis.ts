import type { RedisAccess } from '../../../queues/connection.ts'
import { isCluster } from '../../../queues/redis-address.ts'
import type { Environment } from '../environment.ts'

/** Returns how this process reaches Redis. */
export function redisConfig(env: Environment): {
  redisUrl: string | undefined
  redisAccess: RedisAccess
  redisPrefix: string
} {
  const prefix = env.PAYDIRT_REDIS_PREFIX ?? 'paydirt'
  return {
    redisUrl: env.REDIS_URL,
    redisAccess: {
      caFile: env.PAYDIRT_REDIS_CA_FILE,
      certFile: env.PAYDIRT_REDIS_CERT_FILE,
      keyFile: env.PAYDIRT_REDIS_KEY_FILE,
      sentinelPassword: env.PAYDIRT_REDIS_SENTINEL_PASSWORD,
    },
    // A hash tag: all keys are in one slot, so that a script may use several. Elsewhere jobs wait under the bare word.
    redisPrefix: isCluster(env.REDIS_URL) ? `{${prefix}}` : prefix,
  }
}
