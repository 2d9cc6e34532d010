import { errorCode } from '../domain/error-codes.ts'
import { RetriableError } from '../domain/errors.ts'
import type { AcquirePermit, Lane } from '../domain/ports/send-permit.ts'
import { operationRow } from '../domain/operations.ts'
import type { Meter } from '../domain/ports/meter.ts'
import { rateLimitLeft, retryAfter } from '../domain/retry-after.ts'
import type { Pacers } from './pacers.ts'

/**
 * A worker that would wait longer than this is better used for another job. A press keeps its place in the line: laid aside,
 * it would come back when the line has moved on, and the background would have had its token.
 */
const longestWaitMs: Record<Lane, number> = { background: 2_000, hot: 10_000 }

const ends = { ok: 'served', limited: 'rate_limited', other: 'other' } as const

/**
 * Acquires permits from the pace that all processes share. When the wait is too long, throws a RetriableError that does
 * not count as a failure and says when to try again.
 */
export function createAcquirePermit(
  pacers: Pick<Pacers, 'of'>,
  now: () => Date,
  onRequest: Meter['request'] = () => {},
): AcquirePermit {
  return async (lane, operation) => {
    const pacer = pacers.of(operation)
    const path = operationRow(operation).pace
    const token = await pacer.take({ lane, maxWaitMs: longestWaitMs[lane] })
    if (!token.granted) {
      throw new RetriableError(errorCode.paced, 'waiting for a permit of the shared pace', {
        retryAfterMs: token.retryInMs,
        countsAsTry: false,
      })
    }
    return {
      ready: () => pacer.depart(token.grantId),
      async done(response) {
        const { grantId } = token
        if (!response) return pacer.report({ grantId, kind: 'other' })
        const retryAfterMs = retryAfter(response.headers, now().getTime())
        const rateLimit = rateLimitLeft(response.headers)
        const kind = response.status === 429 ? 'limited' : response.status >= 500 ? 'other' : 'ok'
        onRequest(path, ends[kind])
        await pacer.report({
          grantId,
          kind,
          retryAfterMs,
          rateLimit,
        })
      },
    }
  }
}
