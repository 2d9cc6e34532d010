import { createHash } from 'node:crypto'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { Queue, type Job } from 'bullmq'
import type { RedisClient } from './redis-client.ts'
import { createClaims } from './blocks/claims.ts'
import { queueNames } from './jobs.ts'
import { scheduleQueueName } from './schedules.ts'

/** The queues as a board shows them, and the number of jobs in each. */
export interface QueueBoard {
  /** Returns one adapter per queue. They show no data of a record. With `readOnly` they change nothing. */
  adapters(options: { readOnly: boolean }): BullMQAdapter[]
  /** Background lookups in blocks are counted one by one. */
  depths(): Promise<{ name: string; waiting: number; active: number; delayed: number }[]>
  close(): Promise<void>
}

/** Opens the queues a second time for the board. The processes that move work are not affected. */
export function createQueueBoard(
  redis: RedisClient,
  { prefix, onError }: { prefix: string; onError: (error: Error) => void },
): QueueBoard {
  const open = (name: string) => {
    const queue = new Queue(name, { connection: redis, prefix })
    queue.on('error', onError)
    return queue
  }
  const { background } = queueNames
  const counted = [queueNames.hot, background, queueNames.writeBack, scheduleQueueName].map(open)
  const queues = [...counted, open(queueNames.blocks)]
  const claims = createClaims(redis, prefix)

  return {
    adapters: ({ readOnly }) => queues.map((queue) => new MaskedAdapter(queue, { readOnlyMode: readOnly })),
    async depths() {
      const inBlocks = claims.count()
      return Promise.all(
        counted.map(async (queue) => {
          const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed')
          const { waiting, begun } = queue.name === background ? await inBlocks : { waiting: 0, begun: 0 }
          return {
            name: queue.name,
            waiting: (counts['waiting'] ?? 0) + (counts['prioritized'] ?? 0) + waiting,
            active: (counts['active'] ?? 0) + begun,
            delayed: counts['delayed'] ?? 0,
          }
        }),
      )
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
    },
  }
}

/** A job's key may name a person, so every text that leaves here is reduced to the kind of lookup. */
class MaskedAdapter extends BullMQAdapter {
  override async getJob(id: string): ReturnType<BullMQAdapter['getJob']> {
    const job = await super.getJob(id)
    return job && masked(job as unknown as Job)
  }

  override async getJobs(
    ...args: Parameters<BullMQAdapter['getJobs']>
  ): ReturnType<BullMQAdapter['getJobs']> {
    return (await super.getJobs(...args)).map((job) => masked(job as unknown as Job))
  }

  override async getJobLogs(id: string): Promise<string[]> {
    return (await super.getJobLogs(id)).map(maskText)
  }
}

function masked(job: Job): Awaited<ReturnType<BullMQAdapter['getJobs']>>[number] {
  const toJson = job.toJSON.bind(job)
  job.toJSON = () => maskValue(toJson()) as ReturnType<Job['toJSON']>
  return job as never
}

/** Masks every text in a value at any depth, including fields that are added to jobs in future. */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskValue(each)]))
  return value
}

/** Turns `contact.lookup|jane@acme.test` into `contact.lookup|#3f2a91c0`. The same key always gives the same digest. */
export function maskText(text: string): string {
  return text
    .replace(/\b([a-z]+\.[a-z]+)\|[^"\n]+/g, (key, operation: string) => `${operation}|#${digest(key)}`)
    .replace(/[^\s"'<>,;:|()]+@[^\s"'<>,;:|()]+/g, '(e-mail)')
    .replace(/https?:\/\/[^\s"'<>]+/g, '(address)')
    .replace(/\+\d[\d ().-]{6,}\d/g, '(phone)')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
