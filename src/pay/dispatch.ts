import { atomicCredits } from '../domain/credits.ts'
import { FatalError, PaydirtError, RetriableError, spendingStopped } from '../domain/errors.ts'
import type { Charge, PaymentProtocol, ResponseHead, Terms } from '../domain/payment.ts'
import type { ChargeJournal, StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { Send } from '../domain/ports/transport.ts'
import type { SendPermit } from '../domain/ports/send-permit.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import type { PaidRequest } from './purchase.ts'

export interface DispatchOptions {
  journal: Pick<ChargeJournal, 'markSent' | 'markInDoubt' | 'settleCharge' | 'storeAnswer' | 'release'>
  send: Send
  protocols: readonly PaymentProtocol[]
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  errorFor: (response: ResponseHead) => PaydirtError
  /** Returns the cost in credits that an answer states, or undefined when it states none. */
  creditsOf?: (body: string) => number | undefined
  /** Called with every answer that was stored. Must not throw. */
  onAnswer?: (request: PaidRequest, body: string) => void
  /** Headers of every request to the service, paid or not, such as the buyer's bearer token. */
  extraHeaders?: Record<string, string> | undefined
  now: () => Date
}

/** The result of sending a charge: the answer, now in the ledger, or the server's refusal of the payment. */
type Sent = { answer: StoredAnswer } | { refusal: string }

export interface Dispatch {
  protocolOf(terms: Terms): PaymentProtocol
  exchange(request: PaidRequest, headers: Record<string, string>, permit: SendPermit): Promise<ResponseHead>
  read(request: PaidRequest, response: ResponseHead): StoredAnswer
  /** Returns the answer to a request that carried no payment, or undefined when the response holds none. */
  freeAnswer(request: PaidRequest, response: ResponseHead): StoredAnswer | undefined
  /**
   * Sends a charge's bytes, the same ones every time. Throws when the response is neither an answer nor a refusal, and
   * when spending is stopped. `isUsed`: the chain says that the money has moved, so that only the answer can follow, and
   * the bytes may be sent even then.
   */
  send(
    charge: Charge,
    request: PaidRequest,
    permit: SendPermit,
    options?: { isUsed?: boolean },
  ): Promise<Sent>
}

/** How long to wait before the first request for a deferred answer when the service gives no estimate. */
const firstAskMs = 5_000
const longestAskMs = 60_000

export function createDispatch(options: DispatchOptions): Dispatch {
  const { journal, now } = options

  async function send(
    charge: Charge,
    request: PaidRequest,
    permit: SendPermit,
    { isUsed = false }: { isUsed?: boolean } = {},
  ): Promise<Sent> {
    const protocol = protocolOf(charge.authorization.terms)
    const headers = await protocol.headers(charge.authorization)
    // Crash window: before this commits, no byte has left. After it, the charge counts as sent, whether it was sent or
    // not.
    const marked = await journal.markSent(charge.id, now(), { isUsed })
    if (marked !== 'sent') await permit.done(undefined)
    // The charge stays as it is. One that was never sent is sent when spending resumes, or withdrawn when its time is
    // over. One that was sent before is sent again when spending resumes, or closed by what the chain says of it.
    if (marked === 'stopped') throw spendingStopped()
    if (marked === 'closed') {
      const message = 'another process has closed the charge in the meantime'
      throw new RetriableError('charge_closed', message, { countsAsTry: false })
    }
    let response: ResponseHead
    try {
      response = await exchange(request, headers, permit)
    } catch (error) {
      await journal.markInDoubt(charge.id, error instanceof PaydirtError ? error.code : 'no answer')
      throw error
    }
    // Crash window: the answer has arrived and is not yet stored. After a crash, the same bytes are sent again.
    if (holdsAnswer(protocol, request, response))
      return { answer: await keep(charge, protocol, request, response) }
    if (protocol.isUncharged?.(response)) {
      await journal.release(charge.id, 'declined', `answered ${response.status}`)
      throw options.errorFor(response)
    }
    if (response.status === 402 || response.status === 409) {
      const refusal = protocol.receipt(response)?.reason ?? `answered ${response.status}`
      await journal.markInDoubt(charge.id, refusal)
      return { refusal }
    }
    const error = options.errorFor(response)
    // The server failed after it had verified the payment: the payment is not settled, and its authorization is still
    // valid.
    await journal.markInDoubt(charge.id, error.code)
    throw error
  }

  /**
   * A server settles with every status below 400, so a 201, 202 or 206 whose payment is proven is the paid answer, readable
   * or not. Without that proof, only a 200 or a body in which something was found is one: a bare 202 may precede the
   * answer, and the same bytes ask for it again.
   */
  function holdsAnswer(protocol: PaymentProtocol, request: PaidRequest, response: ResponseHead): boolean {
    if (response.status === 200) return true
    if (!isSuccess(response)) return false
    return protocol.receipt(response)?.success === true || read(request, response).outcome === 'found'
  }

  async function keep(
    charge: Charge,
    protocol: PaymentProtocol,
    request: PaidRequest,
    response: ResponseHead,
  ): Promise<StoredAnswer> {
    const answer = read(request, response)
    const receipt = protocol.receipt(response)
    if (receipt?.success) {
      const credits = options.creditsOf?.(response.body)
      await journal.settleCharge(
        charge.id,
        {
          transaction: receipt.transaction,
          at: now(),
          creditsAtomic: credits === undefined ? undefined : atomicCredits(credits),
        },
        answer,
      )
    } else {
      await journal.storeAnswer(charge.id, receipt?.reason ?? 'answered without a receipt', answer)
    }
    options.onAnswer?.(request, response.body)
    return answer
  }

  function read(request: PaidRequest, { status, body }: ResponseHead): StoredAnswer {
    const at = now()
    const freshOf = (fact: Fact) => options.freshUntil(request.operation, fact.outcome, at)
    const started = request.started?.(body)
    if (started && started.queryId !== '' && !started.isCompleted) {
      const askAt = new Date(at.getTime() + Math.min(started.estimatedMs ?? firstAskMs, longestAskMs))
      return { outcome: 'found', data: null, freshUntil: at, startedAs: { queryId: started.queryId, askAt } }
    }
    if (request.parts) {
      const parts = [...request.parts(body)].map(([place, part]) => {
        const fact = asSaid(part, status, body)
        return [place, { ...fact, freshUntil: freshOf(fact) }] as const
      })
      return { outcome: 'found', data: null, freshUntil: at, parts: new Map(parts) }
    }
    const fact = asSaid(request.decode(body), status, body)
    return { ...fact, freshUntil: freshOf(fact) }
  }

  async function exchange(
    request: PaidRequest,
    headers: Record<string, string>,
    permit: SendPermit,
  ): Promise<ResponseHead> {
    const { method, url, body, timeoutMs } = request
    let response: ResponseHead | undefined
    try {
      response = await options.send({
        method,
        url,
        body,
        timeoutMs,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...options.extraHeaders,
          ...headers,
        },
      })
      return response
    } finally {
      await permit.done(response)
    }
  }

  function protocolOf(terms: Terms): PaymentProtocol {
    const protocol = options.protocols.find(({ name }) => name === terms.protocol)
    if (!protocol) throw new FatalError('no_protocol', `no configured protocol can pay by ${terms.protocol}`)
    return protocol
  }

  function freeAnswer(request: PaidRequest, response: ResponseHead): StoredAnswer | undefined {
    if (!isSuccess(response)) return undefined
    const answer = read(request, response)
    return response.status === 200 || answer.outcome === 'found' ? answer : undefined
  }

  return { protocolOf, exchange, read, freeAnswer, send }
}

function isSuccess({ status }: ResponseHead): boolean {
  return status >= 200 && status <= 299
}

/** An empty 202 (not done yet), 204 or 206 (a part) does not say that there is nothing to find. */
function asSaid(fact: Fact, status: number, raw: string): Fact {
  const isWhole = status === 200 || status === 201 || status === 203
  return isWhole || fact.outcome !== 'not_found' ? fact : { outcome: 'unreadable', data: { raw } }
}
