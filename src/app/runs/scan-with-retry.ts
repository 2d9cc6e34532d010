import { RetriableError } from '../../domain/errors.ts'
import { pause } from '../../timing/pause.ts'

const mostScanTries = 5
const longestScanPauseMs = 60_000

/**
 * A scan that the source breaks off goes on behind its last page, as soon as the source says; `leave` is called when that
 * is not worth waiting for.
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
