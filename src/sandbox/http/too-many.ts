import type { RateLimit } from '../faults/faults.ts'
import type { Answer } from './answer.ts'

export function tooMany({ retryAfter }: RateLimit): Answer {
  return {
    status: 429,
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
    body: { error: 'Rate limit exceeded' },
  }
}
