import { Queue, Worker } from 'bullmq'
import { expect, test } from 'vitest'
import { openRedis } from './connection.ts'
import { keepWorking } from './keep-working.ts'

test('a worker that was cut off as it began takes jobs, and ends when it is closed', async () => {
  const { redis, close } = await openRedis(undefined)
  const base = { connection: redis, prefix: 'keep-working' }
  const queue = new Queue('work', base)
  await queue.add('one', {})
  const { promise: done, resolve } = Promise.withResolvers<string>()
  const worker = new Worker('work', async (job) => resolve(job.name), { ...base, autorun: false })
  // BullMQ's first command to Redis for a worker that begins.
  const begin = worker.startStalledCheckTimer.bind(worker)
  let begun = 0
  worker.startStalledCheckTimer = async () => {
    begun += 1
    if (begun === 1) throw new Error('Connection is closed.')
    return begin()
  }
  const errors: string[] = []
  keepWorking(worker, ({ message }) => void errors.push(message))
  expect(await done).toBe('one')
  expect(errors).toEqual(['Connection is closed.'])
  await worker.close()
  expect(begun).toBe(2)
  await queue.close()
  await close()
})
