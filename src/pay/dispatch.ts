import { statedCost } from '../domain/credits.ts'
import {
  FatalError,
  PaydirtError,
  RetriableError,
  describeUnexpected,
  runStopped,
  spendingStopped,
} from '../domain/errors.ts'
import type { Atomic } from '../domain/money.ts'
import type { Charge, PaymentProtocol, Protocol, ResponseHead, Terms } from '../domain/payment.ts'
import type { ChargeJournal, SendMark, StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { ExchangeOutcome, OnExchange } from '../domain/ports/meter.ts'
import type { Send } from '../domain/ports/transport.ts'
import type { SendPermit } from '../domain/ports/send-permit.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { inDoubt } from './doubt.ts'
import { asJournaled } from './journaled-request.ts'
import type { PaidRequest } from './purchase.ts'
import { createAnswerReader } from './read-answer.ts'

export interface DispatchOptions {
  journal: Pick<
    ChargeJournal,
    'maySend' | 'markSent' | 'markInDoubt' | 'settleCharge' | 'storeAnswer' | 'release'
  >
  send: Send
  protocols: readonly PaymentProtocol[]
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  errorFor: (response: ResponseHead, request: PaidRequest) => PaydirtError
  /** Returns the cost in credits that an answer states, or undefined when it states none. */
  creditsOf?: (body: string) => number | undefined
  /** Takes out of an answer what the ledger must not hold. Called before it is stored. */
  screen?: ((operation: Operation, answer: StoredAnswer) => Promise<StoredAnswer>) | undefined
  /** Called with every answer that was stored, and the protocol that paid for it. Must not throw. */
  onAnswer?: (request: PaidRequest, body: string, protocol: Protocol) => void
  /** Called with every exchange. Must not throw. */
  onExchange?: OnExchange | undefined
  /** The origin of the service that the settings name now. Secrets leave for no other. */
  serviceOrigin?: string | undefined
  /** Headers of every request to the service, paid or not, such as the buyer's bearer token. */
  extraHeaders?: Record<string, string> | undefined
  now: () => Date
}

/** The result of sending a charge: the answer, now in the ledger, or the server's refusal of the payment. */
type Sent = { answer: StoredAnswer } | { refusal: string }

export interface Dispatch {
  protocolOf(terms: Terms): PaymentProtocol
  /** True for a charge whose request was drawn for another service than the one that the settings name now. */
  isElsewhere(charge: Pick<Charge, 'url'>): boolean
  exchange(request: PaidRequest, headers: Record<string, string>, permit: SendPermit): Promise<ResponseHead>
  read(request: PaidRequest, response: ResponseHead): StoredAnswer
  /** Returns the answer to a request that carried no payment, or undefined when the response holds none. */
  freeAnswer(request: PaidRequest, response: ResponseHead): Promise<StoredAnswer | undefined>
  /**
   * Sends a charge's bytes, the same ones every time. Throws when the response is neither an answer nor a refusal, and
   * when spending or its run is stopped. `isUsed`: the chain says that the money has moved, so that only the answer can follow, and
   * the bytes may be sent even then.
   */
  send(
    charge: Charge,
    request: PaidRequest,
    permit: SendPermit,
    options?: { isUsed?: boolean },
  ): Promise<Sent>
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { journal, now } = options
  const reader = createAnswerReader(options)
  const { read } = reader
  /** The duration of each response that is not measured yet. */
  const took = new WeakMap<ResponseHead, number>()

  async function send(
    charge: Charge,
    prepared: PaidRequest,
    permit: SendPermit,
    { isUsed = false }: { isUsed?: boolean } = {},
  ): Promise<Sent> {
    const request = asJournaled(charge, prepared)
    const protocol = protocolOf(charge.authorization.terms)
    // The proof is the key itself: at another address it would be given away.
    if (protocol.name === 'api_key' && isElsewhere(charge)) {
      await permit.done(undefined)
      throw inDoubt(
        `sent by API key to ${new URL(charge.url).origin}, and the key does not go there while PAYDIRT_SERVICE_URL names another service`,
        86_400_000,
      )
    }
    const headers = await proofOf(charge, request, { isUsed }).catch(async (error: unknown) => {
      await permit.done(undefined)
      throw error
    })
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
      throw options.errorFor(response, request)
    }
    if (response.status === 402 || response.status === 409) {
      const refusal = protocol.receipt(response)?.reason ?? `answered ${response.status}`
      await journal.markInDoubt(charge.id, refusal)
      return { refusal }
    }
    if (isSuccess(response)) measure(request, 'started', response)
    const error = options.errorFor(response, request)
    // The server failed after it had verified the payment: the payment is not settled, and its authorization is still
    // valid.
    await journal.markInDoubt(charge.id, error.code)
    throw error
  }

  /**
   * Makes the proof of a charge's payment and marks the charge as sent. Throws when it must not be sent.
   *
   * A card's proof is drawn at its issuer, and an action is noted before it is sent, so there the kill switch is read before as
   * well. A signature is made in this process: one that `markSent` does not let go is dropped with the memory that holds it.
   * Crash window: killed after the proof and before the mark, no byte of it has left for the service; a card's token stays
   * unused at its issuer until it expires, and the next try asks for the same one by its idempotency key. `markSent` decides:
   * what is stopped while the proof is made is not sent.
   */
  async function proofOf(
    charge: Charge,
    request: PaidRequest,
    use: { isUsed: boolean },
  ): Promise<Record<string, string>> {
    const protocol = protocolOf(charge.authorization.terms)
    if (protocol.asksForProof || request.beforeSend) assertMaySend(await journal.maySend(charge.id, use))
    const headers = await protocol.headers(charge.authorization)
    await request.beforeSend?.()
    // Crash window: before this commits, no byte has left. After it, the charge counts as sent, whether it was sent or
    // not.
    assertMaySend(await journal.markSent(charge.id, now(), use))
    return headers
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
    const whole = read(request, response)
    measure(request, outcomeOf(whole), response)
    // Crash window: as for any answer that is not stored yet. Where it cannot be screened now, nothing of it is stored, and the
    // same bytes ask for it again.
    const answer = await screened(request, whole)
    const receipt = protocol.receipt(response)
    const store = (kept: StoredAnswer, creditsAtomic: Atomic | undefined) =>
      receipt?.success
        ? journal.settleCharge(charge, { transaction: receipt.transaction, at: now(), creditsAtomic }, kept)
        : journal.storeAnswer(charge.id, receipt?.reason ?? 'answered without a receipt', kept)
    try {
      await store(answer, costOf(response.body))
    } catch (error) {
      // The answer was paid for, and the database refuses something in it: its text is kept, without any reading of it.
      // When the database is away this fails in the same way, and the same bytes ask for the answer again.
      if (answer.startedAs) throw error
      const body = answer === whole ? response.body : JSON.stringify(answer.data)
      const plain = reader.textOnly(request, { ...response, body }, describeUnexpected(error))
      await store(plain, undefined).catch(() => {
        throw error
      })
      options.onAnswer?.(request, response.body, protocol.name)
      return plain
    }
    options.onAnswer?.(request, response.body, protocol.name)
    return answer
  }

  /** Never throws: what an answer states about its cost must not cost the answer. */
  function costOf(body: string): Atomic | undefined {
    try {
      return statedCost(options.creditsOf?.(body))
    } catch {
      return undefined
    }
  }

  async function exchange(
    request: PaidRequest,
    headers: Record<string, string>,
    permit: SendPermit,
  ): Promise<ResponseHead> {
    const { method, url, body, timeoutMs } = request
    let response: ResponseHead | undefined
    let startedMs = performance.now()
    try {
      await permit.ready()
      startedMs = performance.now()
      response = await options.send({
        method,
        url,
        ...(body !== '' && { body }),
        timeoutMs,
        headers: {
          ...(body !== '' && { 'content-type': 'application/json' }),
          accept: 'application/json',
          ...(isElsewhere({ url }) ? {} : options.extraHeaders),
          ...headers,
        },
      })
      const tookMs = performance.now() - startedMs
      // The outcome of a success is known when it was read.
      if (isSuccess(response)) took.set(response, tookMs)
      else options.onExchange?.(request.operation, outcomeByStatus(response.status), tookMs)
      return response
    } finally {
      if (!response) options.onExchange?.(request.operation, 'unanswered', performance.now() - startedMs)
      await permit.done(response)
    }
  }

  function measure({ operation }: PaidRequest, outcome: ExchangeOutcome, response: ResponseHead): void {
    const ms = took.get(response)
    if (ms !== undefined) options.onExchange?.(operation, outcome, ms)
  }

  function isElsewhere({ url }: Pick<Charge, 'url'>): boolean {
    const { serviceOrigin } = options
    if (serviceOrigin === undefined || url.startsWith(`${serviceOrigin}/`)) return false
    return new URL(url).origin !== serviceOrigin
  }

  function protocolOf(terms: Terms): PaymentProtocol {
    const protocol = options.protocols.find(({ name }) => name === terms.protocol)
    if (!protocol) throw new FatalError('no_protocol', `no configured protocol can pay by ${terms.protocol}`)
    return protocol
  }

  function screened({ operation }: PaidRequest, answer: StoredAnswer): Promise<StoredAnswer> {
    return options.screen?.(operation, answer) ?? Promise.resolve(answer)
  }

  async function freeAnswer(request: PaidRequest, response: ResponseHead): Promise<StoredAnswer | undefined> {
    if (!isSuccess(response)) return undefined
    const answer = read(request, response)
    const isAnswer = response.status === 200 || answer.outcome === 'found'
    measure(request, isAnswer ? outcomeOf(answer) : 'started', response)
    return isAnswer ? screened(request, answer) : undefined
  }

  return { protocolOf, isElsewhere, exchange, read, freeAnswer, send }
}

/**
 * The charge stays as it is. One that was never sent is sent when spending resumes, or withdrawn when its time is over. One
 * that was sent before is sent again when spending resumes, or closed by what the chain says of it.
 */
function assertMaySend(mark: SendMark): void {
  if (mark === 'stopped') throw spendingStopped()
  if (mark === 'run_stopped') throw runStopped()
  if (mark === 'sent') return
  const message = 'another process has closed the charge in the meantime'
  throw new RetriableError('charge_closed', message, { countsAsTry: false })
}

function outcomeOf({ outcome, parts, startedAs }: StoredAnswer): ExchangeOutcome {
  if (startedAs) return 'started'
  return parts ? 'batch' : outcome
}

function outcomeByStatus(status: number): ExchangeOutcome {
  if (status === 402) return 'challenge'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'refused'
}

function isSuccess({ status }: ResponseHead): boolean {
  return status >= 200 && status <= 299
}
