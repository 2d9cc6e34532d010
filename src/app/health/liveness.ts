import { countLoops, hangingLoops } from '../../timing/heartbeats.ts'

const tickMs = 500
const windowMs = 10_000
/** Long work is cut into turns of milliseconds; an answer after so long is none. */
const longestLagMs = 10_000

/** A process that hangs is started again by who asks. */
export interface Liveness {
  isAlive: boolean
  /** The longest that the event loop kept its timers waiting in the last ten seconds. */
  lagMs: number
  loops: number
  /** The loops that do not go on, by name. */
  hanging: string[]
}

/**
 * Watches the event loop and the heartbeats of all loops. It asks no database and no third party: an outage of theirs passes
 * by itself, and a process that is started again for it would only come back into it.
 */
export function watchLiveness(): { read(): Liveness; stop(): void } {
  let lags: { atMs: number; lagMs: number }[] = []
  let dueMs = performance.now() + tickMs

  function tick(): void {
    const atMs = performance.now()
    lags = lags.filter((lag) => lag.atMs > atMs - windowMs)
    lags.push({ atMs, lagMs: Math.max(0, atMs - dueMs) })
    dueMs = atMs + tickMs
  }

  const timer = setInterval(tick, tickMs).unref()
  return {
    read() {
      const nowMs = performance.now()
      const hanging = hangingLoops(nowMs)
      const lagMs = Math.round(Math.max(0, nowMs - dueMs, ...lags.map((lag) => lag.lagMs)))
      return { isAlive: hanging.length === 0 && lagMs < longestLagMs, lagMs, loops: countLoops(), hanging }
    },
    stop: () => clearInterval(timer),
  }
}
