import { statedCost } from '../../domain/credits.ts'
import { RetriableError, type PaydirtError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { ResponseHead } from '../../domain/payment.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Lane, AcquirePermit } from '../../domain/ports/send-permit.ts'
import type { Send } from '../../domain/ports/transport.ts'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { PreparedBatch } from '../../service/batch.ts'
import type { PreparedRequest } from '../../service/prepared-request.ts'
import { creditsOf } from '../../service/schema/metadata.ts'
import type { BatchLedger } from '../../store/ledger/batches.ts'

export interface PollAnswerOptions {
  batches: Pick<BatchLedger, 'complete'>
  send: Send
  acquirePermit: AcquirePermit
  /** Headers that direct access sends with every request. */
  headers: Readonly<Record<string, string>>
  queryFor: (operation: Operation, queryId: string) => Omit<PreparedRequest, 'decode'>
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  errorFor: (response: ResponseHead) => PaydirtError
  /** Called with an answer that was stored. */
  onAnswer?: (operation: Operation, body: string) => void
  now: () => Date
}

/** A request that was started and paid for. */
export interface Outstanding {
  key: LookupKey
  operation: Operation
  queryId: string
  lane: Lane
  /** Reads the answer. */
  bulk: PreparedBatch
}

const shortestWaitMs = 1_000
const longestWaitMs = 30_000

/**
 * Asks for the answer of a request that was started and paid for. Asking is free and can be repeated, so a crash at any
 * place only asks again. While the answer is not complete, throws a RetriableError that does not count as a try.
 */
export function createPollAnswer(options: PollAnswerOptions) {
  return async function pollAnswer({
    key,
    operation,
    queryId,
    lane,
    bulk,
  }: Outstanding): Promise<StoredAnswer> {
    const { method, url, body, timeoutMs } = options.queryFor(operation, queryId)
    const permit = await options.acquirePermit(lane, operation)
    let response: ResponseHead | undefined
    try {
      await permit.ready()
      response = await options.send({
        method,
        url,
        body,
        timeoutMs,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...options.headers },
      })
    } finally {
      await permit.done(response)
    }
    if (response.status < 200 || response.status > 299) throw options.errorFor(response)
    const state = bulk.started?.(response.body)
    const facts = [...bulk.decode(response.body)]
    // Asking again is free, but an accepted answer is final: it must say that it is complete, or have found a subject.
    const { cutAfterBytes } = response
    if (
      cutAfterBytes === undefined &&
      !state?.isCompleted &&
      (state || !facts.some(([, fact]) => fact.outcome === 'found'))
    ) {
      const retryAfterMs = Math.min(Math.max(state?.estimatedMs ?? 0, shortestWaitMs), longestWaitMs)
      throw new RetriableError('not_completed', 'the service is not done yet', {
        retryAfterMs,
        countsAsTry: false,
      })
    }
    const at = options.now()
    const parts = facts.map(([place, said]) => {
      // An entry that is missing from an answer that was cut may have been in the rest.
      const problem = `the answer is larger than ${cutAfterBytes} bytes, and was cut`
      const isMissing = cutAfterBytes !== undefined && said.outcome === 'not_found'
      const fact: Fact = isMissing ? { outcome: 'unreadable', data: { problem } } : said
      return [place, { ...fact, freshUntil: options.freshUntil(operation, fact.outcome, at) }] as const
    })
    const answer = { outcome: 'found' as const, data: null, freshUntil: at, parts: new Map(parts) }
    const credits = creditsOf(response.body)?.totalCreditCost
    await options.batches.complete(key, answer, statedCost(credits))
    options.onAnswer?.(operation, response.body)
    return answer
  }
}
