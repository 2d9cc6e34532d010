import { DelayedError, Queue, WaitingError, Worker, type Job } from 'bullmq'
import type { LookupKey } from '../../domain/keys.ts'
import { keepWorking } from '../keep-working.ts'
import { lookupJob, lookupJobId, queueNames } from '../jobs.ts'
import type { RedisClient } from '../redis-client.ts'
import { inOwnTrace, type QueueTelemetry } from '../telemetry.ts'
import { closeWithin, jobOptions, workerOptions, type Outcome, type QueueWorker } from '../working.ts'
import { blockSize } from './block-size.ts'
import { startBlockWorker } from './block-worker.ts'
import { createClaims } from './claims.ts'
import { createSlots } from './slots.ts'

export interface BackgroundLane {
  /** `ahead` lookups wait before these. */
  add(keys: readonly LookupKey[], ahead: number): Promise<void>
  /** Returns for each lookup how many jobs and places of it were removed, and whether it stays with a worker. */
  takeOut(keys: readonly LookupKey[]): Promise<{ removed: number; isHeld: boolean }[]>
  /** Returns the number of places and jobs that these lookups have, held ones included. */
  countOf(keys: readonly LookupKey[]): Promise<number>
  /** Returns the number of lookups in any state. */
  count(): Promise<number>
  work(
    concurrency: number,
    process: (key: LookupKey, starts: number) => Promise<Outcome>,
    onFailed: (error: Error) => void,
  ): QueueWorker
  close(): Promise<void>
}

/** Lookups that nobody waits for: many in blocks, few and those that come again in jobs of their own. */
export function createBackgroundLane(
  redis: RedisClient,
  options: {
    prefix: string
    largestBlock: number
    onError: (error: Error) => void
    telemetry?: QueueTelemetry | undefined
  },
): BackgroundLane {
  const { prefix, onError, telemetry } = options
  const base = { connection: redis, prefix, ...(telemetry ? { telemetry } : {}) }
  // Hundreds are added at once, and each gets a trace of its own.
  const ownTrace = telemetry ? { telemetry: { omitContext: true } } : {}
  const claims = createClaims(redis, prefix)
  const [singles, blocks] = [queueNames.background, queueNames.blocks].map((name) => {
    const queue = new Queue(name, { ...base, defaultJobOptions: jobOptions })
    queue.on('error', onError)
    return queue
  }) as [Queue, Queue]

  async function add(keys: readonly LookupKey[], ahead: number): Promise<void> {
    if (keys.length === 0) return
    const size = blockSize(keys.length + ahead, options.largestBlock)
    if (size === 1) return addSingles(await claims.free(keys))
    // Killed between the two, the claims name no block: they hold nothing, and the lookups are added again when their lease ends.
    const made = await claims.claim(keys, size)
    if (made.length === 0) return
    await blocks.addBulk(
      made.map((block) => ({
        name: 'lookups',
        data: { keys: block.keys },
        opts: { jobId: block.id, ...ownTrace },
      })),
    )
  }

  async function addSingles(keys: readonly LookupKey[]): Promise<void> {
    if (keys.length === 0) return
    await singles.addBulk(
      keys.map((key) => ({ name: 'lookup', data: { key }, opts: { jobId: lookupJobId(key), ...ownTrace } })),
    )
  }

  /** The job is there before the claim is removed: killed between the two, the claim is found to be of no use. */
  async function comeAgain(key: LookupKey, starts: number, delay: number): Promise<void> {
    await singles.add('lookup', { key, starts }, { jobId: lookupJobId(key), delay, ...ownTrace })
  }

  return {
    add,

    async takeOut(keys) {
      const places = await claims.takeOut(keys)
      return Promise.all(
        places.map(async ({ inBlock, hasJob }, index) => {
          // Returns 0 while a worker holds the job's lock.
          const removed = hasJob ? await singles.remove(lookupJobId(keys[index] as LookupKey)) : 0
          // With a job of its own it is to come again, and whoever had it in a block has done with it.
          return {
            removed: removed + (inBlock === 'waiting' ? 1 : 0),
            isHeld: hasJob ? removed === 0 : inBlock === 'held',
          }
        }),
      )
    },

    async countOf(keys) {
      const places = await claims.find(keys)
      return places.reduce(
        (sum, { inBlock, hasJob }) => sum + (inBlock === 'no' ? 0 : 1) + (hasJob ? 1 : 0),
        0,
      )
    },

    async count() {
      const [inBlocks, jobs] = await Promise.all([claims.count(), countJobs(singles)])
      return inBlocks.waiting + inBlocks.begun + jobs
    },

    work(concurrency, process, onFailed) {
      const slots = createSlots(concurrency)
      const inBlocks = startBlockWorker({
        redis,
        prefix,
        claims,
        slots,
        async work(key, starts) {
          const trace = { queue: queueNames.background, id: lookupJobId(key) }
          const outcome = await inOwnTrace(telemetry, trace, () => process(key, starts))
          if (outcome) await comeAgain(key, starts, outcome.againInMs)
        },
        async giveBack(keys, own) {
          const places = await claims.takeOut(keys, own)
          await add(
            keys.filter((_, index) => places[index]?.inBlock === 'waiting'),
            0,
          )
        },
        onError,
        onFailed,
      })
      const ofOwn = new Worker(
        queueNames.background,
        async (job: Job, token?: string) => {
          if (!(await slots.take())) {
            await job.moveToWait(token)
            throw new WaitingError()
          }
          try {
            const { key, starts } = lookupJob.parse(job.data)
            const outcome = await process(key, starts + job.attemptsStarted)
            if (!outcome) return
            await job.moveToDelayed(Date.now() + outcome.againInMs, token)
          } finally {
            slots.release()
          }
          throw new DelayedError()
        },
        { ...base, ...workerOptions, autorun: false, concurrency },
      )
      ofOwn.on('error', onError)
      keepWorking(ofOwn, onError)
      ofOwn.on('failed', (_, error) => onFailed(error))
      return {
        async close(graceMs) {
          slots.close()
          await Promise.all([inBlocks.close(graceMs), closeWithin(ofOwn, graceMs)])
        },
      }
    },

    async close() {
      await Promise.all([singles.close(), blocks.close()])
    },
  }
}

export async function countJobs(queue: Queue): Promise<number> {
  const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed')
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
