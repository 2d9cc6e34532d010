import { RetriableError } from '../domain/errors.ts'
import type { AcquirePermit } from '../domain/ports/send-permit.ts'
import { rateLimitLeft, retryAfter } from '../domain/retry-after.ts'
import type { Pacers } from './pacers.ts'

/** A worker that would wait longer than this is worth more elsewhere. */
const longestWaitMs = 2_000

/** Leave to send, from the pace that all processes share. A refusal for time is no failure: it says when to come again. */
export function createAcquirePermit(pacers: Pick<Pacers, 'of'>, now: () => Date): AcquirePermit {
  return async (lane, operation) => {
    const pacer = pacers.of(operation)
    const token = await pacer.take({ lane, maxWaitMs: longestWaitMs })
    if (!token.granted) {
      throw new RetriableError('paced', 'waiting for a place in the shared pace', {
        retryAfterMs: token.retryInMs,
        countsAsTry: false,
      })
    }
    return {
      async done(response) {
        const { grantId } = token
        if (!response) return pacer.report({ grantId, kind: 'other' })
        const wait = retryAfter(response.headers, now().getTime())
        const left = rateLimitLeft(response.headers)
        await pacer.report({
          grantId,
          kind: response.status === 429 ? 'limited' : response.status >= 500 ? 'other' : 'ok',
          ...(wait === undefined ? {} : { retryAfterMs: wait }),
          ...(left ? { rateLimit: left } : {}),
        })
      },
    }
  }
}
