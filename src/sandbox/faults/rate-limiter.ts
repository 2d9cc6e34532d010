import type { RateLimit } from './faults.ts'

export interface RateLimiter {
  /** Returns whether a request at this time may pass. */
  admit(rule: RateLimit, nowMs: number): boolean
}

/** Counts requests by the rule in force. A changed rule starts from an empty count. */
export function createRateLimiter(): RateLimiter {
  let rule: RateLimit | null = null
  let admit: (nowMs: number) => boolean = () => true

  return {
    admit(current, nowMs) {
      if (rule === null || !sameRule(rule, current)) {
        rule = current
        admit = strategies[current.kind](current, nowMs)
      }
      return admit(nowMs)
    },
  }
}

function sameRule(a: RateLimit, b: RateLimit) {
  return (
    a.kind === b.kind && a.limit === b.limit && a.windowMs === b.windowMs && a.countRefused === b.countRefused
  )
}

const strategies = {
  /** Windows follow each other from the first request on, independent of the use of the last one. */
  fixed({ limit, windowMs, countRefused }: RateLimit, startMs: number) {
    let window = 0
    let used = 0
    return (nowMs: number) => {
      const current = Math.floor((nowMs - startMs) / windowMs)
      if (current !== window) [window, used] = [current, 0]
      if (used < limit) return ((used += 1), true)
      // The window is already full, so a refused request can only count by starting its wait again.
      if (countRefused) startMs = nowMs - current * windowMs
      return false
    }
  },

  /** At most `limit` requests in any interval of `windowMs`. */
  sliding({ limit, windowMs, countRefused }: RateLimit) {
    let times: number[] = []
    return (nowMs: number) => {
      times = times.filter((time) => time > nowMs - windowMs)
      const admitted = times.length < limit
      if (admitted || countRefused) times.push(nowMs)
      return admitted
    }
  },

  /**
   * A bucket of `limit` tokens that fills with `limit` tokens per `windowMs`. If refused requests count, each costs a
   * token too.
   */
  bucket({ limit, windowMs, countRefused }: RateLimit, startMs: number) {
    let tokens = limit
    let filledMs = startMs
    return (nowMs: number) => {
      tokens = Math.min(limit, tokens + ((nowMs - filledMs) * limit) / windowMs)
      filledMs = nowMs
      const admitted = tokens >= 1
      if (admitted || countRefused) tokens = Math.max(0, tokens - 1)
      return admitted
    }
  },
}
