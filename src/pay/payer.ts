import { errorCode } from '../domain/error-codes.ts'
import { FatalError, PaymentInDoubtError, RetriableError, type PaydirtError } from '../domain/errors.ts'
import { currencyOf, type Charge, type Currency, type ResponseHead, type Terms } from '../domain/payment.ts'
import type { BudgetLine, ChargeJournal, StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { AcquirePermit, SendPermit } from '../domain/ports/send-permit.ts'
import type { Fact } from '../domain/record.ts'
import { createAdmission, type AdmissionOptions } from './admission.ts'
import { createDispatch, type DispatchOptions } from './dispatch.ts'
import type { Funds } from './funds.ts'
import type { Purchase } from './purchase.ts'

export interface PayerOptions extends AdmissionOptions, DispatchOptions {
  journal: ChargeJournal
  acquirePermit: AcquirePermit
  budgetLines: (charge: {
    runId: string
    connector: string
    now: Date
    currency: Currency
  }) => BudgetLine[] | Promise<BudgetLine[]>
  funds: Funds
  /** Names this ledger in every nonce: two ledgers with one wallet never draw the same one. */
  ledgerId: string
  lifetimeSeconds: number
  /** Buy again, once, what was paid for and never answered. */
  rebuyLost: boolean
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
  /**
   * Finds out what became of an open charge that no worker drives, and signs nothing new for it: the chain is asked, and
   * where the money has moved the server is asked again for its answer. True when the charge is closed now.
   */
  recover(charge: Charge, purchase: Purchase, isAnswered: boolean): Promise<boolean>
}

/** An authorization about to die is not sent any more: it could still be settled after we took it for dead. */
const lastSendSeconds = 10
/** How long a charge that is used on the chain may still get its answer (slow server, second worker) before it counts as lost. */
const answerGraceMs = 45_000

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
  const { journal, now } = options
  const admission = createAdmission(options)
  const dispatch = createDispatch(options)
  const probing = new Map<string, Promise<unknown>>()
  const acquirePermit = ({ lane, request }: Purchase) => options.acquirePermit(lane, request.operation)

  async function buy(purchase: Purchase): Promise<Fact> {
    const { open, lost } = await journal.unanswered(purchase.key)
    if (!open) return begin(purchase, lost)
    return (await finish(open, purchase)) ?? beginAgain(purchase)
  }

  /** The charge before this one has just been closed, and may be lost. */
  async function beginAgain(purchase: Purchase): Promise<Fact> {
    return begin(purchase, (await journal.unanswered(purchase.key)).lost)
  }

  async function begin(purchase: Purchase, lost: number): Promise<Fact> {
    if (lost > (options.rebuyLost ? 1 : 0)) {
      throw new FatalError(errorCode.paidNoData, `paid ${lost} time(s) and never answered; not bought again`)
    }
    const terms = (await admission.remembered(purchase)) ?? (await learnTerms(purchase))
    if ('outcome' in terms) return terms
    const permit = await acquirePermit(purchase)
    await refuseEnded(terms, permit)
    const charge = await reserve(purchase, terms, permit)
    return (await send(charge, purchase, permit)) ?? beginAgain(purchase)
  }

  /** Of many lookups that begin at once one asks for the terms, and the others take what it learned. */
  async function learnTerms(purchase: Purchase): Promise<Terms | StoredAnswer> {
    const { endpoint } = purchase.request
    const asking = probing.get(endpoint)
    if (asking) {
      await asking.catch(() => {})
      const learned = await admission.remembered(purchase)
      if (learned) return learned
    }
    const probed = acquirePermit(purchase).then((permit) => probe(purchase, permit))
    probing.set(endpoint, probed)
    return probed.finally(() => {
      if (probing.get(endpoint) === probed) probing.delete(endpoint)
    })
  }

  /** An unpaid request, to learn the terms. Some meters answer it for nothing. */
  async function probe(purchase: Purchase, permit: SendPermit): Promise<Terms | StoredAnswer> {
    const response = await dispatch.exchange(purchase.request, {}, permit)
    options.onRequest?.(purchase.runId, response)
    if (response.status === 200) {
      const answer = dispatch.read(purchase.request, response)
      await journal.storeFreeAnswer(purchase.key, answer)
      return answer
    }
    if (response.status !== 402) throw options.errorFor(response)
    return admission.admit(purchase, response)
  }

  /** The wait for a place in the pace may have outlived a challenge that is good for this one lookup only. */
  async function refuseEnded(terms: Terms, permit: SendPermit): Promise<void> {
    const endsAt = terms.singleUse?.expiresAt
    if (typeof endsAt !== 'number' || endsAt - now().getTime() / 1000 >= lastSendSeconds) return
    await permit.done(undefined)
    const message = 'the challenge ended before its permit came'
    throw new RetriableError('challenge_ended', message, { countsAsTry: false })
  }

  async function reserve(purchase: Purchase, terms: Terms, permit: SendPermit): Promise<Charge> {
    const { key, runId, connector, request } = purchase
    const at = now()
    try {
      if (movesOnChain(terms)) await options.funds.assertCover(terms.amountAtomic)
      return await journal.reserve({
        lookupKey: key,
        operation: request.operation,
        runId,
        connector,
        endpoint: request.endpoint,
        url: request.url,
        body: request.body,
        amountAtomic: terms.amountAtomic,
        budget: await options.budgetLines({
          runId,
          connector,
          now: at,
          currency: currencyOf(terms.protocol),
        }),
        draw: (attempt) =>
          dispatch.protocolOf(terms).draw(terms, {
            seed: `${options.ledgerId}|${key}|${attempt}`,
            nowMs: at.getTime(),
            lifetimeSeconds: options.lifetimeSeconds,
          }),
      })
    } catch (error) {
      await permit.done(undefined)
      throw error
    }
  }

  /** Answers undefined when the charge turned out to be dead, so that the lookup may begin anew. */
  async function send(charge: Charge, purchase: Purchase, permit: SendPermit): Promise<Fact | undefined> {
    const sent = await dispatch.send(charge, purchase.request, permit)
    if ('answer' in sent) return sent.answer
    if (/insufficient_(funds|balance)/.test(sent.refusal)) throw options.funds.foundEmpty()
    // A changed challenge is looked at by the policy when the next lookup asks for the terms anew.
    await admission.forget(purchase.request.endpoint)
    return closedOrThrow(charge, sent.refusal)
  }

  /** Goes on with a charge that an earlier try left open. Answers undefined when it is closed and the lookup may begin anew. */
  async function finish(charge: Charge, purchase: Purchase): Promise<Fact | undefined> {
    if (charge.state === 'journaled' && secondsLeft(charge) < lastSendSeconds) {
      if (await journal.withdraw(charge.id)) return undefined
      throw inDoubt('sent by another process meanwhile')
    }
    const { terms } = charge.authorization
    // Nobody can be asked whether the first request was charged, and a second one may be charged again.
    if (terms.protocol === 'api_key' && charge.state !== 'journaled') throw unknowable()
    if (secondsLeft(charge) >= lastSendSeconds || terms.paymentIdentifier) {
      return send(charge, purchase, await acquirePermit(purchase))
    }
    return closedOrThrow(charge, charge.reason ?? 'past its time')
  }

  async function recover(charge: Charge, purchase: Purchase, isAnswered: boolean): Promise<boolean> {
    if (charge.state === 'journaled') {
      if (secondsLeft(charge) >= lastSendSeconds) return false
      return journal.withdraw(charge.id)
    }
    const { terms } = charge.authorization
    const fate = await dispatch.protocolOf(terms).fate(charge.authorization)
    if (fate.kind === 'live' || fate.kind === 'unknown') return false
    if (fate.kind === 'used' && isAnswered) {
      await journal.confirm(charge.id, fate.transaction, now())
      return true
    }
    if (fate.kind === 'used' && terms.paymentIdentifier) {
      // The money has moved, so sending the same bytes cannot move it: all that can come is the answer.
      const sent = await dispatch.send(charge, purchase.request, await acquirePermit(purchase))
      if ('answer' in sent) return true
    }
    return (await decide(charge, charge.reason ?? 'past its time')) === 'closed'
  }

  async function closedOrThrow(charge: Charge, reason: string): Promise<undefined> {
    const decision = await decide(charge, reason)
    if (decision !== 'closed') throw decision
  }

  /** Asks the chain what became of an open charge that has no answer, and closes it when the chain is sure. */
  async function decide(charge: Charge, reason: string): Promise<'closed' | PaydirtError> {
    const fate = await dispatch.protocolOf(charge.authorization.terms).fate(charge.authorization)
    if (fate.kind === 'dead') {
      await journal.release(charge.id, 'expired', reason)
      return 'closed'
    }
    if (fate.kind === 'used') {
      const firstSentMs = charge.sentAt?.getTime() ?? now().getTime()
      const graceLeftMs = firstSentMs + answerGraceMs - now().getTime()
      if (graceLeftMs > 0) {
        return inDoubt('the money has moved, the answer has not come', Math.min(graceLeftMs, 5_000))
      }
      await journal.lose(charge.id, fate.transaction, reason)
      return 'closed'
    }
    if (fate.kind === 'unknown' && !movesOnChain(charge.authorization.terms)) return unknowable()
    // While it lives the same bytes may go out again, soon and then more rarely; after that only the chain can be asked.
    return secondsLeft(charge) >= lastSendSeconds ? inDoubt(reason) : inDoubt(reason, 30_000)
  }

  function secondsLeft(charge: Charge): number {
    return charge.authorization.validBefore - now().getTime() / 1000
  }

  return { buy, recover }
}

function movesOnChain({ protocol }: Terms): boolean {
  return protocol === 'x402' || protocol === 'mpp'
}

/** Fails closed: neither bought again nor given up, until a person has looked at the provider's own statement. */
function unknowable(): PaymentInDoubtError {
  return inDoubt(
    'paid by a method that cannot be asked whether it was charged; a person must decide',
    86_400_000,
  )
}

/** `askAgainInMs` absent: whenever a failed request would be tried again. */
function inDoubt(reason: string, askAgainInMs?: number): PaymentInDoubtError {
  return new PaymentInDoubtError('in_doubt', reason, { details: { askAgainInMs } })
}
