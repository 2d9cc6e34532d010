import { RetriableError } from '../../domain/errors.ts'
import { pause } from '../../timing/pause.ts'

const mostScanTries = 5
const longestScanPauseMs = 60_000
/** The longest that a scan waits in all for a source that refuses, without one page in between. */
const longestStandstillMs = 15 * 60_000

/**
 * Scans, and continues behind the last page after an error of the source, as soon as the source allows. `onPage` tells of
 * progress: tries and waits are counted from the last page. Calls `leave` instead when it is too long to wait, at once or in
 * all.
 */
export async function scanWithRetry(
  scanOn: (onPage: () => void) => Promise<number>,
  leave: (ms: number, reason: string) => void,
  signal: AbortSignal,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = pause,
): Promise<void> {
  let tries = 0
  let waitedMs = 0
  const onPage = () => {
    tries = 0
    waitedMs = 0
  }
  while (!signal.aborted) {
    try {
      await scanOn(onPage)
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof RetriableError) || (error.countsAsTry && tries >= mostScanTries)) throw error
      const waitMs = error.retryAfterMs ?? Math.min(longestScanPauseMs, 1_000 * 2 ** tries)
      if (waitMs > longestScanPauseMs) return leave(waitMs, error.message)
      if (waitedMs + waitMs > longestStandstillMs) return leave(longestScanPauseMs, error.message)
      tries += 1
      waitedMs += waitMs
      await wait(waitMs, signal)
    }
  }
}
