/** No server here has a reason to ask for more: a longer wait is a mistake, or a way to stop the work for good. */
const longestMs = 86_400_000

/**
 * Returns `Retry-After` (seconds or a date, RFC 9110, 10.2.3) in milliseconds, at most a day, or undefined when absent or
 * unreadable.
 */
export function retryAfter(headers: Record<string, string>, nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim()
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Math.min(longestMs, Number(text) * 1000)
  // A date begins with its day: of "-5" or "1.5" the parser would make a month of 2001.
  const at = /^[a-z]/i.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? undefined : Math.min(longestMs, Math.max(0, at - nowMs))
}

/** Returns what is left of the window by a `RateLimit-*` header pair, where a server sends one. */
export function rateLimitLeft(
  headers: Record<string, string>,
): { remaining: number; resetMs: number } | undefined {
  const remaining = Number(headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining'] ?? NaN)
  const resetSeconds = Number(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset'] ?? NaN)
  if (!Number.isFinite(remaining) || !Number.isFinite(resetSeconds) || remaining < 0 || resetSeconds < 0)
    return undefined
  // Some servers send a date in Unix seconds instead of a duration: no window here is longer than a day.
  return resetSeconds > 86_400 ? undefined : { remaining, resetMs: resetSeconds * 1000 }
}
