import {
  FatalError,
  PaydirtError,
  PaymentInDoubtError,
  PolicyDeniedError,
  RetriableError,
} from '../domain/errors.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { Charge, PaymentProtocol, Protocol, ResponseHead, Terms } from '../domain/payment.ts'
import type { BudgetLine, ChargeJournal, StoredAnswer, TermsBook } from '../domain/ports/charge-journal.ts'
import type { Send } from '../domain/ports/transport.ts'
import type { Lane, TakeTurn, Turn } from '../domain/ports/turn.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import type { Funds } from './funds.ts'
import { chooseTerms, type SpendingPolicy } from './policy.ts'

/** One lookup to be bought: what to ask, for whom, and how to read the answer. */
export interface Purchase {
  key: LookupKey
  runId: string
  connector: string
  lane: Lane
  request: {
    operation: Operation
    endpoint: string
    method: 'GET' | 'POST'
    url: string
    body: string
    timeoutMs: number
    decode: (body: string) => Fact
  }
}

export interface PayerOptions {
  journal: ChargeJournal
  terms: TermsBook
  send: Send
  takeTurn: TakeTurn
  protocols: readonly PaymentProtocol[]
  policy: SpendingPolicy
  budgetLines: (charge: { runId: string; connector: string; now: Date }) => BudgetLine[]
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  funds: Funds
  errorFor: (response: ResponseHead) => PaydirtError
  /** Names this ledger in every nonce: two ledgers with one wallet never draw the same one. */
  ledgerId: string
  lifetimeSeconds: number
  /** Buy again, once, what was paid for and never answered. */
  rebuyLost: boolean
  now: () => Date
  /** The body as it leaves the transport, where that changes it: a challenge may name its digest. */
  wireBody?: (body: string) => string
  /** Counts requests that carry no charge (challenges, free answers). */
  onRequest?: (runId: string, response: ResponseHead | undefined) => void
}

export interface Payer {
  /**
   * Buys one lookup, or finishes what an earlier attempt began. Resolves when the answer stands in the ledger; what it
   * throws says what comes next: RetriableError (later), BudgetExhaustedError (parked), PolicyDeniedError (refused, not
   * consumed), PaymentInDoubtError (ask the chain later), FatalError (ends with a reason), ConfigError (stop the run).
   */
  buy(purchase: Purchase): Promise<Fact>
}

/** An authorization about to die is not sent any more: it could still be settled after we took it for dead. */
const lastSendSeconds = 10
/** How long a charge that is used on the chain may still get its answer (slow server, second worker) before it counts as lost. */
const answerGraceMs = 45_000
const refusalPauseMs = 30_000

/**
 * The way of a charge, and what a crash in each window leaves behind:
 *
 *     (nothing) ──reserve──▶ journaled ──markSent──▶ sent ──settle──▶ settled
 *                                │                     ├──402, 5xx, time-out──▶ in_doubt ──▶ settled, lost or expired
 *                                └──────too old──────▶ declined
 *
 * - before `reserve` commits: nothing was promised and nothing sent. The lookup starts over.
 * - after `reserve`, before `markSent`: the budget is held and no byte has left. The same authorization is sent, or
 *   declined when its time is nearly over.
 * - after `markSent`, before the answer is stored: the server may or may not have it, and the money may or may not have
 *   moved. The same bytes go out again: the token takes a nonce once, and a server that keeps payment ids repeats its
 *   answer. Then the chain decides, never a guess.
 * - after `settle`: answer and charge are one transaction. Nothing is left to do.
 */
export function createPayer(options: PayerOptions): Payer {
  const { journal, terms: book, now } = options
  /** Endpoints whose challenge was refused a moment ago: asking again for every waiting lookup would only be rude. */
  const refusedUntil = new Map<string, { error: PolicyDeniedError; untilMs: number }>()

  async function buy(purchase: Purchase): Promise<Fact> {
    const open = await journal.openCharge(purchase.key)
    if (open) {
      const answer = await finish(open, purchase)
      if (answer) return answer
    }
    return begin(purchase)
  }

  async function begin(purchase: Purchase): Promise<Fact> {
    const lost = await journal.countLost(purchase.key)
    if (lost > (options.rebuyLost ? 1 : 0)) {
      throw new FatalError('paid_no_data', `paid ${lost} time(s) and never answered; not bought again`)
    }
    let terms = await book.terms(purchase.request.endpoint)
    // Remembered under other settings: what is not configured any more is not paid by.
    if (terms && !options.policy.order.includes(terms.protocol)) terms = undefined
    const refusal = refusedUntil.get(purchase.request.endpoint)
    if (!terms && refusal && refusal.untilMs > now().getTime()) throw refusal.error
    let turn = await options.takeTurn(purchase.lane)
    if (!terms) {
      const probed = await probe(purchase, turn)
      if ('outcome' in probed) return probed
      terms = probed
      turn = await options.takeTurn(purchase.lane)
      // The wait for a place in the pace may have outlived a challenge that is good for this one lookup only.
      const endsAt = terms.singleUse?.expiresAt
      if (typeof endsAt === 'number' && endsAt - now().getTime() / 1000 < lastSendSeconds) {
        await turn.done(undefined)
        throw new RetriableError('challenge_ended', 'the challenge ended before its turn came', {
          countsAsTry: false,
        })
      }
    }
    return send(await reserve(purchase, terms, turn), purchase, turn)
  }

  /** An unpaid request, to learn the terms. Some meters answer it for nothing. */
  async function probe(purchase: Purchase, turn: Turn): Promise<Terms | Fact> {
    const response = await exchange(purchase, {}, turn)
    options.onRequest?.(purchase.runId, response)
    if (response.status === 200) {
      const answer = stored(purchase, response)
      await journal.keepFree(purchase.key, answer)
      return answer
    }
    if (response.status !== 402) throw options.errorFor(response)
    return admit(purchase, response)
  }

  /** Takes a challenge through the spending policy; the terms that pass are remembered for the endpoint, unless they are for this one lookup. */
  async function admit(purchase: Purchase, response: ResponseHead): Promise<Terms> {
    const { endpoint, url, body } = purchase.request
    const host = new URL(url).host
    const offers = options.protocols.flatMap((protocol) => protocol.offers(response))
    const pins = new Map<Protocol, string | undefined>()
    for (const { name } of options.protocols) pins.set(name, await book.pinnedRecipient(host, name))
    try {
      const terms = chooseTerms(offers, options.policy, (protocol) => pins.get(protocol), {
        url,
        body: options.wireBody?.(body) ?? body,
        nowMs: now().getTime(),
      })
      const pinned = await book.pinRecipient(host, terms.protocol, terms.payTo)
      // Two processes may see their first challenges at once: whoever pinned first is right.
      if (options.policy.recipients.length === 0 && pinned.toLowerCase() !== terms.payTo.toLowerCase()) {
        throw new PolicyDeniedError(
          'recipient',
          `recipient ${terms.payTo} is not the one first seen for ${host}`,
        )
      }
      if (!terms.singleUse) await book.remember(endpoint, terms)
      return terms
    } catch (error) {
      if (error instanceof PolicyDeniedError) {
        const { code: rule, message } = error
        refusedUntil.set(endpoint, { error, untilMs: now().getTime() + refusalPauseMs })
        await journal.recordRefusal({
          lookupKey: purchase.key,
          runId: purchase.runId,
          endpoint,
          rule,
          message,
        })
      }
      throw error
    }
  }

  async function reserve(purchase: Purchase, terms: Terms, turn: Turn): Promise<Charge> {
    const { key, runId, connector, request } = purchase
    const at = now()
    try {
      await options.funds.assertCover(terms.amountAtomic)
      return await journal.reserve({
        lookupKey: key,
        operation: request.operation,
        runId,
        connector,
        endpoint: request.endpoint,
        url: request.url,
        body: request.body,
        amountAtomic: terms.amountAtomic,
        budget: options.budgetLines({ runId, connector, now: at }),
        draw: (attempt) =>
          protocolOf(terms).draw(terms, {
            seed: `${options.ledgerId}|${key}|${attempt}`,
            nowMs: at.getTime(),
            lifetimeSeconds: options.lifetimeSeconds,
          }),
      })
    } catch (error) {
      await turn.done(undefined)
      throw error
    }
  }

  async function send(charge: Charge, purchase: Purchase, turn: Turn): Promise<Fact> {
    const headers = await protocolOf(charge.authorization.terms).headers(charge.authorization)
    await journal.markSent(charge.id, now())
    let response: ResponseHead
    try {
      response = await exchange(purchase, headers, turn)
    } catch (error) {
      await journal.markInDoubt(charge.id, error instanceof PaydirtError ? error.code : 'no answer')
      throw error
    }
    if (response.status === 200) return keep(charge, purchase, response)
    if (response.status === 402 || response.status === 409) return refused(charge, purchase, response)
    const error = options.errorFor(response)
    // The handler failed after the payment was verified: not settled, but alive. The same bytes go out at the next try.
    await journal.markInDoubt(charge.id, error.code)
    throw error
  }

  async function keep(charge: Charge, purchase: Purchase, response: ResponseHead): Promise<Fact> {
    const answer = stored(purchase, response)
    const receipt = protocolOf(charge.authorization.terms).receipt(response)
    if (receipt?.success) {
      await journal.settle(charge.id, { transaction: receipt.transaction, at: now() }, answer)
    } else {
      await journal.keepAnswer(charge.id, receipt?.reason ?? 'answered without a receipt', answer)
    }
    return answer
  }

  function stored(purchase: Purchase, response: ResponseHead): StoredAnswer {
    const fact = purchase.request.decode(response.body)
    return { ...fact, freshUntil: options.freshUntil(purchase.request.operation, fact.outcome, now()) }
  }

  /** A 402 (or a 409 for the payment id) after a send never means that nothing was paid: see the resolver's rules. */
  async function refused(charge: Charge, purchase: Purchase, response: ResponseHead): Promise<Fact> {
    const protocol = protocolOf(charge.authorization.terms)
    const reason = protocol.receipt(response)?.reason ?? `answered ${response.status}`
    await journal.markInDoubt(charge.id, reason)
    if (/insufficient_(funds|balance)/.test(reason)) throw options.funds.foundEmpty()
    // A changed challenge is looked at by the policy when the next lookup asks for the terms anew.
    await book.forget(purchase.request.endpoint)
    const answer = await decide(charge, reason)
    if (answer === 'dead') return begin(purchase)
    throw answer
  }

  /** Goes on with a charge that an earlier try left open. Answers undefined when it is closed and the lookup may begin anew. */
  async function finish(charge: Charge, purchase: Purchase): Promise<Fact | undefined> {
    const { validBefore, terms } = charge.authorization
    const secondsLeft = validBefore - now().getTime() / 1000
    if (charge.state === 'journaled' && secondsLeft < lastSendSeconds) {
      await journal.release(charge.id, 'declined', 'never sent')
      return undefined
    }
    if (secondsLeft >= lastSendSeconds || terms.paymentIdentifier) {
      const turn = await options.takeTurn(purchase.lane)
      return send(charge, purchase, turn)
    }
    const decision = await decide(charge, charge.reason ?? 'past its time')
    if (decision === 'dead') return undefined
    throw decision
  }

  /** Asks the chain what became of an open charge. `dead`: closed, and the lookup may be bought anew. */
  async function decide(charge: Charge, reason: string): Promise<'dead' | PaydirtError> {
    const fate = await protocolOf(charge.authorization.terms).fate(charge.authorization)
    if (fate.kind === 'dead') {
      await journal.release(charge.id, 'expired', reason)
      return 'dead'
    }
    if (fate.kind === 'used') {
      const sentAt = charge.sentAt?.getTime() ?? now().getTime()
      const graceLeftMs = sentAt + answerGraceMs - now().getTime()
      if (graceLeftMs > 0)
        return inDoubt('the money has moved, the answer has not come', Math.min(graceLeftMs, 5_000))
      await journal.lose(charge.id, fate.transaction, reason)
      return 'dead'
    }
    const secondsLeft = charge.authorization.validBefore - now().getTime() / 1000
    // While it lives the same bytes may go out again, soon and then more rarely; after that only the chain can be asked.
    return secondsLeft >= lastSendSeconds ? inDoubt(reason) : inDoubt(reason, 30_000)
  }

  async function exchange(
    purchase: Purchase,
    headers: Record<string, string>,
    turn: Turn,
  ): Promise<ResponseHead> {
    const { method, url, body, timeoutMs } = purchase.request
    let response: ResponseHead | undefined
    try {
      response = await options.send({
        method,
        url,
        body,
        timeoutMs,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      })
      return response
    } finally {
      await turn.done(response)
    }
  }

  function protocolOf(terms: Terms): PaymentProtocol {
    const protocol = options.protocols.find(({ name }) => name === terms.protocol)
    if (!protocol) throw new FatalError('no_protocol', `nothing here can pay by ${terms.protocol}`)
    return protocol
  }

  return { buy }
}

/** `askAgainInMs` absent: whenever a failed request would be tried again. */
function inDoubt(reason: string, askAgainInMs?: number): PaymentInDoubtError {
  return new PaymentInDoubtError('in_doubt', reason, { details: { askAgainInMs } })
}
