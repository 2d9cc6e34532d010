import { RetriableError } from '../../domain/errors.ts'
import { pause } from '../../timing/pause.ts'

const mostScanTries = 5
const longestScanPauseMs = 60_000

/**
 * Scans, and continues behind the last page after an error of the source, as soon as the source allows. Calls `leave` instead
 * when that is too long to wait.
 */
export async function scanWithRetry(
  scanOn: () => Promise<number>,
  leave: (ms: number, reason: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      await scanOn()
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof RetriableError) || (error.countsAsTry && tries >= mostScanTries)) throw error
      const waitMs = error.retryAfterMs ?? 1_000 * 2 ** tries
      if (waitMs > longestScanPauseMs) return leave(waitMs, error.message)
      await pause(waitMs, signal)
    }
  }
}
