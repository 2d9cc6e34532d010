import { Queue, Worker } from 'bullmq'
import { keepWorking } from './keep-working.ts'
import type { RedisClient } from './redis-client.ts'
import { z } from 'zod'
import type { CronTimes } from './cron.ts'
import type { QueueTelemetry } from './telemetry.ts'
import { closeWithin, jobOptions, workerOptions, type QueueWorker } from './working.ts'

export const scheduleQueueName = 'schedule'

const dueJob = z.object({ schedule: z.string() })
/** An occurrence is called `turn` in Redis, because jobs that are already waiting there carry that name. */
const occurrenceJob = z.object({ turn: z.string().regex(/^\d+$/).transform(BigInt) })

export interface ScheduleQueue {
  /** Makes BullMQ's job schedulers exactly these: adds, changes and removes as needed. */
  setSchedulers(schedules: readonly (CronTimes & { name: string })[]): Promise<void>
  /** Returns the number of job schedulers in Redis. It is lower than the number set after Redis was emptied. */
  count(): Promise<number>
  /**
   * Offers occurrences to any free scheduler process. One that is already offered or being processed is not offered
   * twice.
   */
  offer(occurrences: readonly bigint[]): Promise<void>
  work(handlers: {
    onDue: (schedule: string) => Promise<void>
    onOccurrence: (occurrence: bigint) => Promise<void>
  }): QueueWorker
  close(): Promise<void>
}

/** As many scans at once as there are entities to scan, with room for planned times that fall due meanwhile. */
const concurrency = 16

/**
 * Moves schedules: BullMQ wakes one scheduler process at each planned time and gives each occurrence to one of them.
 * SQL records what is due and what was done, so a planned time that Redis lost is found again.
 */
export function createScheduleQueue(
  redis: RedisClient,
  options: { prefix: string; onError: (error: Error) => void; telemetry?: QueueTelemetry | undefined },
): ScheduleQueue {
  const { prefix, telemetry } = options
  const base = { connection: redis, prefix, ...(telemetry ? { telemetry } : {}) }
  const queue = new Queue(scheduleQueueName, { ...base, defaultJobOptions: jobOptions })
  queue.on('error', options.onError)

  return {
    async setSchedulers(schedules) {
      const wanted = new Set(schedules.map(({ name }) => name))
      for (const { key } of await queue.getJobSchedulers())
        if (!wanted.has(key)) await queue.removeJobScheduler(key)
      for (const { name, cron, timeZone } of schedules) {
        await queue.upsertJobScheduler(
          name,
          { pattern: cron, tz: timeZone },
          { name: 'due', data: { schedule: name }, opts: jobOptions },
        )
      }
    },
    count: () => queue.getJobSchedulersCount(),
    async offer(occurrences) {
      if (occurrences.length === 0) return
      await queue.addBulk(
        occurrences.map((occurrence) => ({
          name: 'turn',
          data: { turn: String(occurrence) },
          opts: { jobId: `turn-${occurrence}` },
        })),
      )
    },
    work({ onDue, onOccurrence }) {
      const worker = new Worker(
        scheduleQueueName,
        (job) =>
          job.name === 'turn'
            ? onOccurrence(occurrenceJob.parse(job.data).turn)
            : onDue(dueJob.parse(job.data).schedule),
        { ...base, ...workerOptions, autorun: false, concurrency },
      )
      worker.on('error', options.onError)
      keepWorking(worker, options.onError)
      worker.on('failed', (_, error) => options.onError(error))
      return { close: (graceMs) => closeWithin(worker, graceMs) }
    },
    close: () => queue.close(),
  }
}
