import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { RateLimiter } from '../faults/rate-limiter.ts'
import type { StatsCounter } from '../stats.ts'
import type { Answer } from './answer.ts'
import { tooMany } from './too-many.ts'
import { isGenericUserAgent } from './user-agent.ts'

interface Edge {
  faults: FaultSwitch
  limiter: RateLimiter
  stats: StatsCounter
}

interface EdgeRequest {
  path: string
  header(name: string): string | undefined
}

/** Returns the answer of whatever stands in front of the service; null for a request that it lets through. */
export function atTheEdge(
  { faults, limiter, stats }: Edge,
  request: EdgeRequest,
  key: string,
): Answer | null {
  if (faults.current.blockGenericUserAgents && isGenericUserAgent(request.header('user-agent'))) {
    return { status: 403, body: 'error code: 1010' }
  }
  const rule = faults.current.rateLimit
  if (rule !== null && !limiter.admit(rule, performance.now())) {
    stats.rateLimited()
    return tooMany(rule)
  }
  if (faults.strikes('dropAtDoor', key)) return 'drop'
  const refused = refusedPath(faults.current.refusedPaths, request.path)
  if (refused !== null) return refused
  const error = faults.strikes('errorAtDoor', key)
  return error && failed(error.status)
}

const refusals: Record<number, string> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not found' }

/** A path that ends in an asterisk stands for all that begin with it. */
function refusedPath(refused: Readonly<Record<string, number>>, path: string): Answer | null {
  const [, status] =
    Object.entries(refused).find(([each]) =>
      each.endsWith('*') ? path.startsWith(each.slice(0, -1)) : each === path,
    ) ?? []
  return status === undefined ? null : { status, body: { error: refusals[status] ?? 'Refused' } }
}

/** The service's own error is a 500 with JSON. Any other 5xx is of a gateway in front of it, which answers with a page. */
export function failed(status: number): { status: number; body: unknown } {
  if (status === 500) return { status, body: { error: 'Unexpected server error' } }
  return { status, body: `<html><head><title>${status}</title></head><body>upstream failed</body></html>` }
}
