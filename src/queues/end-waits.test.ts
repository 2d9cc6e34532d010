import { Queue, Worker } from 'bullmq'
import { expect, test } from 'vitest'
import { openRedis } from './connection.ts'
import { endWaits } from './end-waits.ts'

test('a worker whose wait has no end takes jobs again', async () => {
  const { redis, close } = await openRedis(undefined)
  const base = { connection: redis, prefix: 'end-waits' }
  const queue = new Queue('work', base)
  const { promise: done, resolve } = Promise.withResolvers<string>()
  const worker = new Worker('work', async (job) => resolve(job.name), base)
  endWaits(worker, 50)
  // As it was seen after a fail-over: the connection answers others, and this wait is never over.
  const { backend } = worker as unknown as { backend: { waitForJob(): Promise<unknown> } }
  let waits = 0
  const { promise: isWaiting, resolve: waiting } = Promise.withResolvers<void>()
  backend.waitForJob = () => {
    waits += 1
    waiting()
    return new Promise(() => {})
  }
  await isWaiting
  await queue.add('one', {})
  expect(await done).toBe('one')
  expect(waits).toBeGreaterThanOrEqual(1)
  await worker.close(true)
  await queue.close()
  await close()
})

test('a wait that ends by itself is not cut short, and its error is its own', async () => {
  const worker = {
    waitForJob: async (until: number) => (until === 0 ? Promise.reject(new Error('away')) : until),
  }
  endWaits(worker as unknown as Worker, 60_000)
  expect(await worker.waitForJob(7)).toBe(7)
  await expect(worker.waitForJob(0)).rejects.toThrow('away')
})
