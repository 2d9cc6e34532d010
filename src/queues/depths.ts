import { Queue } from 'bullmq'
import type { RedisClient } from './redis-client.ts'
import { createClaims } from './blocks/claims.ts'
import { queueNames } from './jobs.ts'
import { scheduleQueueName } from './schedules.ts'

export interface QueueDepth {
  queue: string
  state: string
  jobs: number
}

const states = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const

/** Reads the number of jobs in each queue, by state. Of background lookups those in blocks are counted one by one. */
export function createQueueDepths(
  redis: RedisClient,
  options: { prefix: string; onError: (error: Error) => void },
): { read(): Promise<QueueDepth[]>; close(): Promise<void> } {
  const claims = createClaims(redis, options.prefix)
  const { background, hot, writeBack } = queueNames
  const queues = [background, hot, writeBack, scheduleQueueName].map((name) => {
    const queue = new Queue(name, { connection: redis, prefix: options.prefix })
    queue.on('error', options.onError)
    return queue
  })
  return {
    async read() {
      const [inBlocks, ...counts] = await Promise.all([
        claims.count(),
        ...queues.map((queue) => queue.getJobCounts(...states)),
      ])
      const extra: Record<string, number> = { waiting: inBlocks.waiting, active: inBlocks.begun }
      return queues.flatMap(({ name }, index) =>
        states.map((state) => ({
          queue: name,
          state,
          jobs: (counts[index]?.[state] ?? 0) + (name === background ? (extra[state] ?? 0) : 0),
        })),
      )
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
    },
  }
}
