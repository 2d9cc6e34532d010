import { readFile } from 'node:fs/promises'
import { Cluster, Redis, type CommonRedisOptions } from 'ioredis'
import type { SecureContextOptions } from 'node:tls'
import { ConfigError, describeError } from '../domain/errors.ts'
import { startEmbeddedRedis } from './embedded-redis.ts'
import { redisAddress, redisHosts, type RedisAddress } from './redis-address.ts'
import { writeOnceATurn } from './one-write-a-turn.ts'
import type { RedisClient } from './redis-client.ts'

export interface RedisConnection {
  redis: RedisClient
  kind: 'redis' | 'embedded'
  close(): Promise<void>
}

/** The rest of what the servers ask for, beside their address. Absent: the system's certificates, no password. */
export interface RedisAccess {
  caFile?: string | undefined
  certFile?: string | undefined
  keyFile?: string | undefined
  sentinelPassword?: string | undefined
}

/** Connects to Redis or Valkey at `url`, or starts one inside this process when there is no `url`. */
export async function openRedis(url: string | undefined, access: RedisAccess = {}): Promise<RedisConnection> {
  const embedded = url === undefined ? await startEmbeddedRedis() : undefined
  const text = url ?? embedded?.url ?? ''
  const address = redisAddress(text)
  if (!address) throw new ConfigError('bad_environment', 'REDIS_URL is not a redis:// URL')
  const redis = createClient(address, await readCertificates(access), access.sentinelPassword)
  redis.on('error', () => {})
  // Each connection has a stream of its own. The nodes of a cluster keep theirs.
  if (redis instanceof Redis) redis.on('connect', () => writeOnceATurn(redis.stream))
  try {
    await firstContact(redis)
  } catch (error) {
    redis.disconnect()
    await embedded?.stop()
    throw new ConfigError(
      'redis_unreachable',
      `no Redis at ${redisHosts(text)} (REDIS_URL): ${describeError(error)}`,
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

/** A former master refuses writes: the connection begins again, asks who is master now, and sends the command there. */
const reconnectOnError = (error: Error) => (error.message.startsWith('READONLY') ? 2 : false)

function createClient(
  address: RedisAddress,
  certificates: SecureContextOptions,
  sentinelPassword: string | undefined,
): RedisClient {
  const common = {
    // BullMQ's blocking calls must never give up on their own: an unreachable Redis may come back.
    maxRetriesPerRequest: null,
    lazyConnect: true,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    ...(address.isEncrypted ? { tls: certificates } : {}),
  } satisfies CommonRedisOptions & { lazyConnect: boolean }
  if (address.kind === 'server') return new Redis(address.url, { ...common, reconnectOnError })
  const { username, password } = address
  const login = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
  if (address.kind === 'sentinel') {
    return new Redis({
      ...common,
      ...login,
      reconnectOnError,
      sentinels: address.hosts,
      name: address.name,
      db: address.db,
      // A master that is cut off breaks no connection; the sentinels say when it is replaced.
      failoverDetector: true,
      ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
      ...(address.isEncrypted ? { enableTLSForSentinelMode: true, sentinelTLS: certificates } : {}),
    })
  }
  const { lazyConnect, ...nodes } = common
  return new Cluster(address.hosts, {
    lazyConnect,
    redisOptions: { ...nodes, ...login },
    // Certificates name hosts, where the cluster announces them.
    dnsLookup: (host, callback) => callback(null, host),
    slotsRefreshTimeout: 5_000,
    // A node that dies is noticed and replaced within seconds; a command waits for that.
    maxRedirections: 100,
    retryDelayOnFailover: 300,
    retryDelayOnClusterDown: 300,
    retryDelayOnTryAgain: 100,
  })
}

async function readCertificates({ caFile, certFile, keyFile }: RedisAccess): Promise<SecureContextOptions> {
  const read = async (path: string | undefined) => {
    if (path === undefined) return undefined
    return readFile(path).catch((error: unknown) => {
      throw new ConfigError('bad_environment', `${path} cannot be read: ${describeError(error)}`, {
        cause: error,
      })
    })
  }
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map(read))
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
}

async function firstContact(redis: RedisClient): Promise<void> {
  const failed = new Promise<never>((_, reject) => redis.once('error', reject))
  failed.catch(() => {})
  // A cluster that is not ready at the first look is looked at again, and the promise of connect() is forgotten.
  const ready = new Promise((resolve) => redis.once('ready', resolve))
  const connected = redis.connect()
  connected.catch(() => {})
  await Promise.race([redis instanceof Cluster ? ready : connected, failed])
  await redis.ping()
}
