import { DelayedError, Queue, Worker, type Job, type Processor } from 'bullmq'
import type { RedisClient } from './redis-client.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { Lane } from '../domain/ports/send-permit.ts'
import type { QueueTelemetry } from './telemetry.ts'
import {
  lookupJob,
  lookupJobId,
  lookupQueueName,
  queueNames,
  writeBackJob,
  type WriteBackJob,
} from './jobs.ts'

/**
 * Returned by a processor: nothing when the job is done, or the delay after which the same job runs again at no cost in
 * attempts.
 */
export type Outcome = void | { againInMs: number }

export interface Queues {
  addLookups(lane: Lane, keys: LookupKey[]): Promise<void>
  /**
   * Moves lookups into the hot lane, including those that wait in the background lane. A lookup that a worker is
   * processing there stays with that worker. No lane is asked for those of `isNew`.
   */
  hurryLookups(keys: readonly LookupKey[], isNew?: ReadonlySet<LookupKey>): Promise<void>
  /** Returns the number of a lane's jobs in Redis, in any state. */
  countLookups(lane: Lane): Promise<number>
  /**
   * Removes the jobs of these lookups from both lanes and returns how many were removed. A job that a worker is
   * processing ends with that worker.
   */
  dropLookups(keys: readonly LookupKey[]): Promise<number>
  /** Returns how many jobs `dropLookups` would find. */
  countJobsOf(keys: readonly LookupKey[]): Promise<number>
  /** For a press, a job that waits to try its batch again runs at once: it writes the press, and waits on. */
  addWriteBack(job: WriteBackJob, options?: { isPress: boolean }): Promise<void>
  /** Returns true once after Redis was emptied (or is new): everything leased to the queue is gone. */
  wasEmptied(): Promise<boolean>
  /** `starts` counts how often the job was started, this time included. It begins anew with each job. */
  workLookups(
    lane: Lane,
    concurrency: number,
    process: (key: LookupKey, starts: number) => Promise<Outcome>,
  ): QueueWorker
  workWriteBack(process: (job: WriteBackJob) => Promise<Outcome>): QueueWorker
  close(): Promise<void>
}

export interface QueueWorker {
  /** Takes no more jobs, waits up to `graceMs` for the active ones, and then abandons them: their locks expire. */
  close(graceMs: number): Promise<void>
}

/** A dead worker is noticed after the lock's duration at most; see docs/decisions/0004-queue.md for the numbers. */
export const workerOptions = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 5 }
/** Failures are stored in SQL with their reason. In Redis, a finished job would only block its own id. */
export const jobOptions = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 3 }

/**
 * The only module that uses BullMQ's queues for work. Redis moves work and may be emptied at any moment; it never holds
 * the truth.
 */
export function createQueues(
  redis: RedisClient,
  options: {
    prefix: string
    /** Called when the connection has a problem. */
    onError: (error: Error) => void
    /** Called when a processor threw. The sweep finds the work again. Default: `onError`. */
    onFailed?: (error: Error) => void
    telemetry?: QueueTelemetry | undefined
  },
): Queues {
  const { prefix, onError, telemetry } = options
  const base = { connection: redis, prefix, ...(telemetry ? { telemetry } : {}) }
  // The enqueuer adds hundreds of jobs at once, and each gets a trace of its own. A job that a caller waits for stays
  // in the caller's trace.
  const ownTrace = telemetry ? { telemetry: { omitContext: true } } : {}
  const lookups = { background: openQueue(queueNames.background), hot: openQueue(queueNames.hot) }
  const writeBack = openQueue(queueNames.writeBack)

  function openQueue(name: string): Queue {
    const queue = new Queue(name, { ...base, defaultJobOptions: jobOptions })
    queue.on('error', onError)
    return queue
  }

  function work(name: string, concurrency: number, processor: Processor): QueueWorker {
    const worker = new Worker(name, processor, { ...base, ...workerOptions, concurrency })
    worker.on('error', onError)
    worker.on('failed', (_, error) => (options.onFailed ?? onError)(error))
    return { close: (graceMs) => closeWithin(worker, graceMs) }
  }

  async function addLookups(lane: Lane, keys: readonly LookupKey[]): Promise<void> {
    if (keys.length === 0) return
    await lookups[lane].addBulk(
      keys.map((key) => ({
        name: 'lookup',
        data: { key },
        opts: { jobId: lookupJobId(key), ...(lane === 'background' ? ownTrace : {}) },
      })),
    )
  }

  /** Returns false while a worker holds the job's lock. */
  async function removeFromBackground(key: LookupKey): Promise<boolean> {
    const job = await lookups.background.getJob(lookupJobId(key))
    if (!job) return true
    return job.remove().then(
      () => true,
      () => false,
    )
  }

  return {
    addLookups,

    async hurryLookups(keys, isNew = new Set()) {
      const free = await Promise.all(keys.map((key) => isNew.has(key) || removeFromBackground(key)))
      await addLookups(
        'hot',
        keys.filter((_, index) => free[index]),
      )
    },

    async countLookups(lane) {
      const counts = await lookups[lane].getJobCounts('waiting', 'prioritized', 'active', 'delayed')
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },

    async dropLookups(keys) {
      let dropped = 0
      for (const queue of Object.values(lookups)) {
        for (const key of keys) {
          const job = await queue.getJob(lookupJobId(key))
          // Fails while a worker holds the job's lock.
          const isGone = await job?.remove().then(
            () => true,
            () => false,
          )
          if (isGone) dropped += 1
        }
      }
      return dropped
    },

    async countJobsOf(keys) {
      const found = await Promise.all(
        Object.values(lookups).flatMap((queue) => keys.map((key) => queue.getJob(lookupJobId(key)))),
      )
      return found.filter((job) => job !== undefined).length
    },

    async addWriteBack(job, { isPress: replace } = { isPress: false }) {
      const id = `${job.connector}-${job.entity}`
      await writeBack.add('flush', job, { deduplication: { id, keepLastIfActive: true, replace } })
    },

    async wasEmptied() {
      return (await redis.set(`${prefix}:filled`, '1', 'NX')) === 'OK'
    },

    workLookups(lane, concurrency, process) {
      return work(lookupQueueName(lane), concurrency, async (job, token) =>
        finishOrDelay(job, token, await process(lookupJob.parse(job.data).key, job.attemptsStarted)),
      )
    },

    workWriteBack(process) {
      return work(queueNames.writeBack, 2, async (job, token) =>
        finishOrDelay(job, token, await process(writeBackJob.parse(job.data))),
      )
    },

    async close() {
      await Promise.all([lookups.background.close(), lookups.hot.close(), writeBack.close()])
    },
  }
}

async function finishOrDelay(job: Job, token: string | undefined, outcome: Outcome): Promise<void> {
  if (!outcome) return
  await job.moveToDelayed(Date.now() + outcome.againInMs, token)
  throw new DelayedError()
}

export async function closeWithin(worker: Worker, graceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const graceOver = new Promise<'over'>((resolve) => {
    timer = setTimeout(resolve, graceMs, 'over')
  })
  const ended = await Promise.race([worker.close(), graceOver])
  clearTimeout(timer)
  if (ended === 'over') await worker.close(true)
}
