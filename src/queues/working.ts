import type { Worker } from 'bullmq'

/**
 * Returned by a processor: nothing when the job is done, or the delay after which the same job runs again at no cost in
 * attempts.
 */
export type Outcome = void | { againInMs: number }

export interface QueueWorker {
  /** Takes no more jobs, waits up to `graceMs` for the active ones, and then abandons them: their locks expire. */
  close(graceMs: number): Promise<void>
}

/** A dead worker is noticed after the lock's duration at most; see docs/decisions/0004-queue.md for the numbers. */
export const workerOptions = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 5 }
/** Failures are stored in SQL with their reason. In Redis, a finished job would only block its own id. */
export const jobOptions = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 3 }

export async function closeWithin(worker: Worker, graceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const graceOver = new Promise<'over'>((resolve) => {
    timer = setTimeout(resolve, graceMs, 'over')
  })
  const ended = await Promise.race([worker.close(), graceOver])
  clearTimeout(timer)
  // It cannot be closed by force any more: asked to close, BullMQ waits for jobs that hang and renews their locks until then.
  if (ended === 'over') await worker['lockManager'].close()
}
