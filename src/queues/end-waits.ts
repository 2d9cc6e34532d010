import type { Worker } from 'bullmq'
import { pause } from '../timing/pause.ts'

/** BullMQ waits ten seconds for a job at most, and gives its connection another to answer. */
const longestWaitMs = 15_000

/**
 * Has a worker look for jobs again when it has waited longer than any wait can last. BullMQ gives up a connection that does not answer
 * and opens it anew, but where the server of a Redis Cluster had been replaced, what it waited for then never came: the
 * worker took no job again, and only a restart helped. What the given-up wait may still take is the sign that there are jobs, and
 * no job. Must be called before the worker runs.
 */
export function endWaits(worker: Worker, mostMs: number = longestWaitMs): void {
  const inner = worker as unknown as { waitForJob(blockUntil: number): Promise<number> }
  const waitForJob = inner.waitForJob.bind(worker)
  inner.waitForJob = async (blockUntil) => {
    const ended = new AbortController()
    try {
      return await Promise.race([waitForJob(blockUntil), pause(mostMs, ended.signal).then(() => 0)])
    } finally {
      ended.abort()
    }
  }
}
