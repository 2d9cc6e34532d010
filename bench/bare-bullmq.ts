// BullMQ alone: one job per lookup, and a processor that does nothing.
import { Queue, Worker } from 'bullmq'
import { openRedis } from '../src/queues/connection.ts'
import { jobOptions, workerOptions } from '../src/queues/working.ts'
import { readOrder, serveParent } from './child.ts'
import { startMeter } from './meter.ts'

const { redisUrl, jobs, concurrency } = readOrder<{ redisUrl?: string; jobs: number; concurrency: number }>()

serveParent({
  async run() {
    const { redis, close } = await openRedis(redisUrl)
    const base = { connection: redis, prefix: 'bare' }
    const meter = startMeter({ redis })
    const queue = new Queue('bare', { ...base, defaultJobOptions: jobOptions })
    let done = 0
    const worker = new Worker('bare', async () => {}, { ...base, ...workerOptions, concurrency })
    const isDone = new Promise<void>((resolve) => {
      worker.on('completed', () => {
        done += 1
        if (done === jobs) resolve()
      })
    })
    for (let added = 0; added < jobs; added += 250) {
      await queue.addBulk(
        Array.from({ length: Math.min(250, jobs - added) }, (_, index) => ({
          name: 'lookup',
          data: { key: `company.profile|profnet.example/company/bare-${added + index}` },
          opts: { jobId: `k${added + index}` },
        })),
      )
    }
    await isDone
    const metered = await meter.stop()
    await worker.close()
    await queue.close()
    await close()
    return { ...metered, written: done }
  },
})
