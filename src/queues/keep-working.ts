import type { Worker } from 'bullmq'
import { endWaits } from './end-waits.ts'

const retryMs = 1_000

/**
 * Runs a worker that was made with `autorun: false` until it is closed. BullMQ ends a worker for good whose connection is cut in the
 * moment in which it begins, and says so once; here it begins again after a second.
 */
export function keepWorking(worker: Worker, onError: (error: Error) => void): void {
  endWaits(worker)
  const run = (): void =>
    void worker.run().catch((error: unknown) => {
      onError(error as Error)
      if (!worker.closing) setTimeout(run, retryMs)
    })
  run()
}
