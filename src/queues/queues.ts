import { DelayedError, Queue, Worker, type Job, type Processor } from 'bullmq'
import type { RedisClient } from './redis-client.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { Lane } from '../domain/ports/send-permit.ts'
import { keepWorking } from './keep-working.ts'
import type { QueueTelemetry } from './telemetry.ts'
import { countJobs, createBackgroundLane } from './blocks/background-lane.ts'
import { lookupJob, lookupJobId, queueNames, writeBackJob, type WriteBackJob } from './jobs.ts'
import { closeWithin, jobOptions, workerOptions, type Outcome, type QueueWorker } from './working.ts'

export interface Queues {
  /** `ahead` lookups wait in the lane already: in the background, many are put together. */
  addLookups(lane: Lane, keys: readonly LookupKey[], ahead?: number): Promise<void>
  /**
   * Moves lookups into the hot lane, including those that wait in the background lane. A lookup that a worker is
   * processing there stays with that worker. No lane is asked for those of `isNew`.
   */
  hurryLookups(keys: readonly LookupKey[], isNew?: ReadonlySet<LookupKey>): Promise<void>
  /** Returns the number of a lane's lookups in Redis, in any state. */
  countLookups(lane: Lane): Promise<number>
  /**
   * Removes these lookups from both lanes and returns how many were removed, counted by lane. What a worker is processing ends
   * with that worker.
   */
  dropLookups(keys: readonly LookupKey[]): Promise<number>
  /** Returns how many `dropLookups` would find. */
  countJobsOf(keys: readonly LookupKey[]): Promise<number>
  /** For a press, a job that waits to try its batch again runs at once: it writes the press, and waits on. */
  addWriteBack(job: WriteBackJob, options?: { isPress: boolean }): Promise<void>
  /** Returns true once after Redis was emptied (or is new): everything leased to the queue is gone. */
  wasEmptied(): Promise<boolean>
  /**
   * `starts` counts how often the lookup was started, this time included. It begins anew when the lookup is added again.
   * `concurrency` is the number of lookups under way at once.
   */
  workLookups(
    lane: Lane,
    concurrency: number,
    process: (key: LookupKey, starts: number) => Promise<Outcome>,
  ): QueueWorker
  workWriteBack(process: (job: WriteBackJob) => Promise<Outcome>): QueueWorker
  close(): Promise<void>
}

/**
 * The only module that uses BullMQ's queues for work, with those of `blocks/`. Redis moves work and may be emptied at any moment; it never holds
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
    /** The most background lookups in one job. */
    largestBlock?: number | undefined
  },
): Queues {
  const { prefix, onError, telemetry, onFailed = onError } = options
  const base = { connection: redis, prefix, ...(telemetry ? { telemetry } : {}) }
  const background = createBackgroundLane(redis, {
    prefix,
    largestBlock: options.largestBlock ?? 16,
    onError,
    telemetry,
  })
  const hot = openQueue(queueNames.hot)
  const writeBack = openQueue(queueNames.writeBack)

  function openQueue(name: string): Queue {
    const queue = new Queue(name, { ...base, defaultJobOptions: jobOptions })
    queue.on('error', onError)
    return queue
  }

  function work(name: string, concurrency: number, processor: Processor): QueueWorker {
    const worker = new Worker(name, processor, { ...base, ...workerOptions, autorun: false, concurrency })
    worker.on('error', onError)
    keepWorking(worker, onError)
    worker.on('failed', (_, error) => onFailed(error))
    return { close: (graceMs) => closeWithin(worker, graceMs) }
  }

  async function addLookups(lane: Lane, keys: readonly LookupKey[], ahead = 0): Promise<void> {
    if (keys.length === 0) return
    if (lane === 'background') return background.add(keys, ahead)
    // A job that a caller waits for stays in the caller's trace.
    await hot.addBulk(
      keys.map((key) => ({ name: 'lookup', data: { key }, opts: { jobId: lookupJobId(key) } })),
    )
  }

  return {
    addLookups,

    async hurryLookups(keys, isNew = new Set()) {
      const known = keys.filter((key) => !isNew.has(key))
      const places = await background.takeOut(known)
      const held = new Set(known.filter((_, index) => places[index]?.isHeld))
      await addLookups(
        'hot',
        keys.filter((key) => !held.has(key)),
      )
    },

    countLookups: (lane) => (lane === 'background' ? background.count() : countJobs(hot)),

    async dropLookups(keys) {
      const places = await background.takeOut(keys)
      let dropped = places.reduce((sum, { removed }) => sum + removed, 0)
      for (const key of keys) {
        const job = await hot.getJob(lookupJobId(key))
        // Fails while a worker holds the job's lock.
        const isGone = await job?.remove().then(
          () => true,
          () => false,
        )
        if (isGone) dropped += 1
      }
      return dropped
    },

    async countJobsOf(keys) {
      const hotJobs = await Promise.all(keys.map((key) => hot.getJob(lookupJobId(key))))
      return (await background.countOf(keys)) + hotJobs.filter((job) => job !== undefined).length
    },

    async addWriteBack(job, { isPress: replace } = { isPress: false }) {
      const id = `${job.connector}-${job.entity}`
      await writeBack.add('flush', job, { deduplication: { id, keepLastIfActive: true, replace } })
    },

    async wasEmptied() {
      return (await redis.set(`${prefix}:filled`, '1', 'NX')) === 'OK'
    },

    workLookups(lane, concurrency, process) {
      if (lane === 'background') return background.work(concurrency, process, onFailed)
      return work(queueNames.hot, concurrency, async (job, token) =>
        finishOrDelay(job, token, await process(lookupJob.parse(job.data).key, job.attemptsStarted)),
      )
    },

    workWriteBack(process) {
      return work(queueNames.writeBack, 2, async (job, token) =>
        finishOrDelay(job, token, await process(writeBackJob.parse(job.data))),
      )
    },

    async close() {
      await Promise.all([background.close(), hot.close(), writeBack.close()])
    },
  }
}

async function finishOrDelay(job: Job, token: string | undefined, outcome: Outcome): Promise<void> {
  if (!outcome) return
  await job.moveToDelayed(Date.now() + outcome.againInMs, token)
  throw new DelayedError()
}
