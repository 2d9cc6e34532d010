import { Redis } from 'ioredis'
import { ConfigError, describeError } from '../domain/errors.ts'
import { startEmbeddedRedis } from './embedded-redis.ts'

export interface RedisConnection {
  redis: Redis
  kind: 'redis' | 'embedded'
  close(): Promise<void>
}

/** Connects to Redis or Valkey at `url`, or starts one inside this process when there is no `url`. */
export async function openRedis(url: string | undefined): Promise<RedisConnection> {
  const embedded = url === undefined ? await startEmbeddedRedis() : undefined
  const address = url ?? embedded?.url ?? ''
  // BullMQ's blocking calls must never give up on their own: an unreachable Redis may come back.
  const redis = new Redis(address, { maxRetriesPerRequest: null, lazyConnect: true, connectTimeout: 5_000 })
  redis.on('error', () => {})
  try {
    await firstContact(redis)
  } catch (error) {
    redis.disconnect()
    await embedded?.stop()
    throw new ConfigError(
      'redis_unreachable',
      `no Redis at ${hostOf(address)} (REDIS_URL): ${describeError(error)}`,
      { cause: error },
    )
  }
  return {
    redis,
    kind: embedded ? 'embedded' : 'redis',
    async close() {
      // quit() would wait forever for a server that is gone.
      redis.disconnect()
      await embedded?.stop()
    },
  }
}

async function firstContact(redis: Redis): Promise<void> {
  const failed = new Promise<never>((_, reject) => redis.once('error', reject))
  failed.catch(() => {})
  await Promise.race([redis.connect(), failed])
  await redis.ping()
}

/** Returns host and port only: the URL may hold a password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the given address'
}
