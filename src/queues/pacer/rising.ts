import { doublingMs } from './rate.ts'

/** After a rise the pace may go on rising for so long. */
const mayGoOnMs = 5_000
/** A pace that climbs by parts of a percent is known; one that is being found rises by more. */
const risenPart = 0.8

/**
 * Watches whether the pace is being found, as one process sees it: it begins low and may double every half second. A request that
 * is laid aside comes back as soon as it may be its turn at such a pace. By the pace of the first moment, a file of 300 rows was
 * laid aside for 13 seconds, in which nothing was sent.
 */
export function createRising(startMs: number) {
  let untilMs = startMs + mayGoOnMs
  let leastIntervalMs = Infinity

  return {
    see(intervalMs: number, nowMs: number): void {
      if (intervalMs >= risenPart * leastIntervalMs) return
      leastIntervalMs = intervalMs
      untilMs = nowMs + mayGoOnMs
    },

    isOver(nowMs: number): boolean {
      return nowMs >= untilMs
    },

    /** The time in which so many milliseconds' worth of tokens may come. */
    soonestMs(waitMs: number, nowMs: number): number {
      if (nowMs >= untilMs) return waitMs
      return (doublingMs / Math.LN2) * Math.log1p((waitMs * Math.LN2) / doublingMs)
    },
  }
}
