import type { Redis } from 'ioredis'
import type { LookupKey } from '../../src/domain/keys.ts'
import { createClaims } from '../../src/queues/blocks/claims.ts'
import { openRedis, type RedisConnection } from '../../src/queues/connection.ts'
import { startEmbeddedRedis } from '../../src/queues/embedded-redis.ts'
import { createQueues, type Queues } from '../../src/queues/queues.ts'
import type { QueueTelemetry } from '../../src/queues/telemetry.ts'
import type { Outcome, QueueWorker } from '../../src/queues/working.ts'
import { freshStores } from '../support/stores.ts'

/** So much waits ahead that what is added is put into blocks of sixteen. */
export const much = 10_000

export const keysOf = (count: number, name = 'acme') =>
  Array.from({ length: count }, (_, n) => `company.profile|profnet.com/company/${name}-${n}` as LookupKey)

/** The part of one process that has to do with the queues. Dead, it says nothing more to Redis. */
export interface Process {
  queues: Queues
  connection: RedisConnection
  errors: string[]
  work(
    concurrency: number,
    process: (key: LookupKey, starts: number) => Promise<Outcome>,
  ): QueueWorker & { starts: LookupKey[] }
  kill(): Promise<void>
}

/** A Redis of this machine or of the test's own, with any number of processes. */
export async function openBlockWorld() {
  const stores = await freshStores()
  const embedded = stores.redisUrl === undefined ? await startEmbeddedRedis() : undefined
  const url = stores.redisUrl ?? embedded?.url
  const prefix = stores.redisPrefix
  const observer = await openRedis(url)
  const { redis } = observer
  const closing: (() => Promise<unknown>)[] = []

  async function startProcess({
    at = url,
    ...settings
  }: { telemetry?: QueueTelemetry; largestBlock?: number; at?: string | undefined } = {}): Promise<Process> {
    const connection = await openRedis(at)
    const errors: string[] = []
    const workers: QueueWorker[] = []
    const onError = (error: Error) => void errors.push(error.message)
    const queues = createQueues(connection.redis, { prefix, onError, ...settings })
    const close = async () => {
      await queues.close()
      await connection.close()
    }
    closing.push(close)
    return {
      queues,
      connection,
      errors,
      work(concurrency, process) {
        const starts: LookupKey[] = []
        const worker = queues.workLookups('background', concurrency, (key, times) => {
          starts.push(key)
          return process(key, times)
        })
        workers.push(worker)
        closing.unshift(() => worker.close(0))
        return { ...worker, starts }
      },
      async kill() {
        await connection.close()
        // The second connection, on which a worker waits for jobs.
        for (const worker of workers) await worker.close(0)
      },
    }
  }

  async function ids(state: 'wait' | 'active'): Promise<string[]> {
    return redis.lrange(`${prefix}:lookup-block:${state}`, 0, -1)
  }

  async function everyKey(): Promise<string[]> {
    const keys = []
    for (let cursor = ''; cursor !== '0';) {
      const [next, page] = await (redis as Redis).scan(cursor || '0', 'MATCH', `${prefix}:*`, 'COUNT', 1_000)
      keys.push(...page)
      cursor = next
    }
    return keys
  }

  return {
    redis,
    url: url as string,
    prefix,
    claims: createClaims(redis, prefix),
    startProcess,
    ids,
    everyKey,
    claimed: () => redis.hgetall(`${prefix}:lookup-claims`),
    /** As time does after a process has died: its locks have run out, and the first look at active jobs is over. */
    async expireLocks() {
      for (const key of await everyKey()) if (key.endsWith(':lock')) await redis.del(key)
      const active = await ids('active')
      if (active.length > 0) await redis.sadd(`${prefix}:lookup-block:stalled`, ...active)
      await redis.del(`${prefix}:lookup-block:stalled-check`)
    },
    async empty() {
      for (const key of await everyKey()) await redis.del(key)
    },
    /** Everything that Redis has, as text. */
    async text(): Promise<string> {
      const texts = []
      for (const key of await everyKey()) {
        const type = await redis.type(key)
        if (type === 'hash') texts.push(JSON.stringify(await redis.hgetall(key)))
        else if (type === 'string') texts.push(await redis.get(key))
        else if (type === 'list') texts.push(...(await redis.lrange(key, 0, -1)))
        else if (type === 'stream') texts.push(JSON.stringify(await redis.xrange(key, '-', '+')))
        texts.push(key)
      }
      return texts.join('\n')
    },
    async close() {
      for (const each of closing) await each().catch(() => {})
      await observer.close()
      await embedded?.stop()
      await stores.cleanup()
    },
  }
}

export type BlockWorld = Awaited<ReturnType<typeof openBlockWorld>>
