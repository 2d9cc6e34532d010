import { describeUnexpected } from '../domain/errors.ts'
import type { ResponseHead } from '../domain/payment.ts'
import type { StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { isStorable } from './limits/challenge-limits.ts'
import type { PaidRequest } from './purchase.ts'

export interface AnswerReaderOptions {
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  now: () => Date
}

export interface AnswerReader {
  /** Reads the body of a response as the answer to a request. Never throws: it may have been paid for. */
  read(request: PaidRequest, response: ResponseHead): StoredAnswer
  /** Returns an answer that holds the text that was received, the reason why, and nothing else. */
  textOnly(request: PaidRequest, response: ResponseHead, problem: string): StoredAnswer
}

/** The wait before the first request for a deferred answer when the service gives no estimate. */
const firstAskMs = 5_000
const longestAskMs = 60_000
const longestQueryId = 1_000

/** Reads answers. The text of a paid answer is kept even where reading it fails. */
export function createAnswerReader({ freshUntil, now }: AnswerReaderOptions): AnswerReader {
  function read(request: PaidRequest, response: ResponseHead): StoredAnswer {
    try {
      return readWhole(request, response)
    } catch (error) {
      return textOnly(request, response, describeUnexpected(error))
    }
  }

  function readWhole(request: PaidRequest, response: ResponseHead): StoredAnswer {
    const { body } = response
    const at = now()
    const freshOf = (fact: Fact) => freshUntil(request.operation, fact.outcome, at)
    const started = request.started?.(body)
    if (started && started.queryId !== '' && !started.isCompleted && isQueryId(started.queryId)) {
      const askAt = new Date(at.getTime() + Math.min(started.estimatedMs ?? firstAskMs, longestAskMs))
      return { outcome: 'found', data: null, freshUntil: at, startedAs: { queryId: started.queryId, askAt } }
    }
    if (request.parts) {
      let isRawKept = false
      const parts = [...request.parts(body)].map(([place, part]) => {
        const fact = asSaid(part, response, isRawKept)
        if (fact !== part) isRawKept = true
        return [place, { ...fact, freshUntil: freshOf(fact) }] as const
      })
      return { outcome: 'found', data: null, freshUntil: at, parts: new Map(parts) }
    }
    const fact = asSaid(request.decode(body), response, false)
    return { ...fact, freshUntil: freshOf(fact) }
  }

  return {
    read,
    textOnly,
  }

  /** The first entry of a batch keeps the text, and the others have no answer. */
  function textOnly(request: PaidRequest, { body }: ResponseHead, problem: string): StoredAnswer {
    const until = freshUntil(request.operation, 'unreadable', now())
    const fact = { outcome: 'unreadable', data: { raw: body, problem }, freshUntil: until } as const
    return request.parts
      ? { outcome: 'found', data: null, freshUntil: until, parts: new Map([[0, fact]]) }
      : fact
  }
}

function isQueryId(text: string): boolean {
  return text.length <= longestQueryId && isStorable(text)
}

/**
 * An empty 202 (not done yet), 204 or 206 (a part) does not say that there is nothing to find. Neither does an answer of
 * which only the beginning was read. The text is kept once.
 */
function asSaid(fact: Fact, { status, body, cutAfterBytes }: ResponseHead, isRawKept: boolean): Fact {
  const problem =
    cutAfterBytes === undefined ? undefined : `the answer is larger than ${cutAfterBytes} bytes, and was cut`
  if (problem !== undefined && fact.outcome !== 'not_found')
    return {
      ...fact,
      data: { ...fact.data, ...(fact.outcome === 'unreadable' ? { problem } : { answer_cut: problem }) },
    }
  const isWhole = problem === undefined && (status === 200 || status === 201 || status === 203)
  if (isWhole || fact.outcome !== 'not_found') return fact
  const data = { ...(isRawKept ? {} : { raw: body }), ...(problem === undefined ? {} : { problem }) }
  return { outcome: 'unreadable', data }
}
