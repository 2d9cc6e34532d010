import { logoDomain, logoFor } from '../data/logo.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { RateLimiter } from '../faults/rate-limiter.ts'
import type { StatsCounter } from '../stats.ts'
import type { Answer } from './answer.ts'
import { tooMany } from './too-many.ts'

export interface LogoContext {
  faults: FaultSwitch
  limiter: RateLimiter
  stats: StatsCounter
}

/** Answers `GET /logo/{domain}`: free, never a 404, and the placeholder for a domain without a logo. */
export function logo({ faults, limiter, stats }: LogoContext, path: string): Answer {
  const { logoRateLimit, logoPlaceholderHeader } = faults.current
  if (logoRateLimit !== null && !limiter.admit(logoRateLimit, performance.now())) {
    stats.rateLimited()
    return tooMany(logoRateLimit)
  }
  const { png, placeholder } = logoFor(logoDomain(path))
  const headers: Record<string, string> = {
    'content-type': 'image/png',
    'cache-control': 'public, max-age=86400',
  }
  if (placeholder && logoPlaceholderHeader) headers['x-logo-placeholder'] = 'true'
  return { status: 200, headers, body: png }
}
