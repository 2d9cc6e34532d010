import { errorCode, stopCodes } from '../domain/error-codes.ts'
import { FatalError, PaydirtError, RetriableError } from '../domain/errors.ts'
import type { LookupKey } from '../domain/keys.ts'
import { currencyOf, type Charge, type Terms } from '../domain/payment.ts'
import type { StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { SendPermit } from '../domain/ports/send-permit.ts'
import { createAdmission } from './limits/admission.ts'
import { createDispatch } from './dispatch.ts'
import { inDoubt, movesOnChain, unknowable } from './doubt.ts'
import { isErased } from './journaled-request.ts'
import { isRepeatedEnough, maySendAgain } from './not-in-time.ts'
import { derivedSeed, paymentSeed } from './payment-seed.ts'
import type { PayerOptions } from './payer-options.ts'
import { createTermsLearner } from './learn-terms.ts'
import { earlierOf, recallBudgets } from './read-before.ts'
import type { Purchase, Unanswered } from './purchase.ts'

export interface Payer {
  /**
   * Buys one lookup, or finishes an earlier attempt. Resolves when the answer is in the ledger. The class of the thrown
   * error says what to do next: RetriableError (retry), BudgetExhaustedError (park), PolicyDeniedError (refused; the
   * lookup is not consumed), PaymentInDoubtError (ask the chain again), FatalError (end the lookup with the reason),
   * ConfigError (stop the run).
   */
  buy(purchase: Purchase): Promise<StoredAnswer>
  /** Reads what earlier attempts to buy a lookup have left, for `readAhead`. */
  earlier(key: LookupKey): Promise<Unanswered>
  /**
   * Resolves an open charge that no worker drives, and signs nothing new for it: it asks the chain, and where the money
   * has moved, it asks the server for the answer again. Returns true when the charge is now closed.
   */
  recover(charge: Charge, purchase: Purchase, isAnswered: boolean): Promise<boolean>
}

type Losses = Omit<Unanswered, 'open'>

/** An authorization that is about to expire is not sent: it could still settle after we have counted it as expired. */
const lastSendSeconds = 10
/**
 * The time in which a charge that is used on the chain may still get its answer (slow server, second worker) before it
 * counts as lost.
 */
const answerGraceMs = 45_000

/**
 * The states of a charge, and what a crash in each window leaves behind:
 *
 *     (nothing) ──reserve──▶ journaled ──markSent──▶ sent ──settleCharge──▶ settled
 *                                │                     ├──402, 5xx, time-out──▶ in_doubt ──▶ settled, lost or expired
 *                                └──────too old──────▶ declined
 *
 * - before `reserve` commits: nothing is promised and nothing is sent. The lookup starts over.
 * - after `reserve`, before `markSent`: the budget is reserved and no byte has left. The same authorization is sent, or
 *   the charge is declined when the authorization is about to expire.
 * - after `markSent`, before the answer is stored: the server may or may not have the request, and the money may or may
 *   not have moved. The same bytes are sent again: the token contract accepts a nonce once, and a server that stores
 *   payment ids repeats its answer. After that the chain decides, never a guess.
 * - after a 408 (`in_doubt`): the service did not finish. The same charge is sent again, a few times; see not-in-time.ts.
 * - after `settleCharge`: answer and charge are committed in one transaction. Nothing is left to do.
 */
export function createPayer(options: PayerOptions): Payer {
  const { journal, now } = options
  const admission = createAdmission(options)
  const dispatch = createDispatch(options)
  const acquirePermit = ({ lane, request }: Purchase) => options.acquirePermit(lane, request.operation)
  const learnTerms = createTermsLearner({ ...options, admission, dispatch, acquirePermit })

  async function buy(purchase: Purchase): Promise<StoredAnswer> {
    // A press is a run of its own, whose budgets nobody has asked for.
    if (purchase.lane === 'hot') void recallBudgets(purchase, options)
    const { open, ...losses } = await earlierOf(purchase, journal)
    const answer = open && (await finish(open, purchase))
    if (answer) return answer
    if (purchase.onlyFinish)
      throw new FatalError('not_bought_again', 'the payment was never used, and is not made again')
    // A charge that has just been closed may be lost.
    return begin(purchase, open ? await journal.unanswered(purchase.key) : losses)
  }

  async function begin(purchase: Purchase, losses: Losses): Promise<StoredAnswer> {
    const { lost } = losses
    if (lost > (options.rebuyLost ? 1 : 0) && isOfThisCycle(purchase, losses)) {
      throw new FatalError(errorCode.paidNoData, `paid ${lost} time(s) without an answer; not bought again`)
    }
    const terms = (await admission.remembered(purchase)) ?? (await learnTerms(purchase))
    if ('outcome' in terms) return terms
    const [permit] = await Promise.all([acquirePermit(purchase), recallBudgets(purchase, options)])
    await refuseEnded(terms, permit)
    const charge = await reserve(purchase, terms, permit)
    if (charge.state !== 'journaled') return finishRestored(charge, purchase, permit)
    const answer = await send(charge, purchase, permit)
    if (answer) return answer
    // Another one would die in the same way, and one after the other without an end.
    const message = "the authorization expired as soon as it was sent: is this machine's clock behind?"
    throw new RetriableError('expired_at_once', message)
  }

  /**
   * The lookup was paid for after the backup that the ledger was restored from: its answer is asked for by the same bytes, or
   * the payment is booked as lost.
   */
  async function finishRestored(
    charge: Charge,
    purchase: Purchase,
    permit: SendPermit,
  ): Promise<StoredAnswer> {
    await permit.done(undefined)
    const answer = await finish(charge, purchase)
    if (answer) return answer
    throw new FatalError(
      errorCode.paidNoData,
      'paid for after the backup that this ledger was restored from, and the answer is not to be had; not bought again',
    )
  }

  /**
   * A lost payment blocks its lookup for as long as its answer would have been fresh. After that, the answer would be
   * bought again anyway.
   */
  function isOfThisCycle({ request }: Purchase, { lastLostAt }: Losses): boolean {
    if (!lastLostAt) return true
    return options.freshUntil(request.operation, 'found', lastLostAt) > now()
  }

  /** A challenge that is valid for one lookup only may have expired while the lookup waited for its permit. */
  async function refuseEnded(terms: Terms, permit: SendPermit): Promise<void> {
    const endsAt = terms.singleUse?.expiresAt
    if (typeof endsAt !== 'number' || endsAt - now().getTime() / 1000 >= lastSendSeconds) return
    await permit.done(undefined)
    const message = 'the challenge expired before its permit came'
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
        body: request.keptBody ?? request.body,
        amountAtomic: terms.amountAtomic,
        budget: await options.budgetLines({
          runId,
          connector,
          now: at,
          currency: currencyOf(terms.protocol),
        }),
        draw: (attempt, salt) =>
          dispatch.protocolOf(terms).draw(terms, {
            seed: seedOf(terms, { key, salt, attempt }),
            nowMs: at.getTime(),
            lifetimeSeconds: options.lifetimeSeconds,
          }),
      })
    } catch (error) {
      await permit.done(undefined)
      throw error
    }
  }

  /** The nonce of MPP is the digest of its challenge: nothing can be derived again there. */
  function seedOf(terms: Terms, of: { key: LookupKey; salt: string | null; attempt: number }): string {
    const { ledgerId, seedSecret: secret } = options
    return terms.protocol === 'x402' && secret !== undefined
      ? derivedSeed({ ledgerId, key: of.key, attempt: of.attempt, secret })
      : paymentSeed({ ledgerId, ...of })
  }

  /** Returns undefined when the charge turned out to be dead, so that the lookup may start over. */
  async function send(
    charge: Charge,
    purchase: Purchase,
    permit: SendPermit,
    evidence: { isUsed?: boolean } = {},
  ): Promise<StoredAnswer | undefined> {
    const sent = await dispatch.send(charge, purchase.request, permit, evidence)
    if ('answer' in sent) return sent.answer
    if (/insufficient_(funds|balance)/.test(sent.refusal)) throw options.funds.foundEmpty()
    // The next lookup requests the terms again, and the policy checks the changed challenge.
    await admission.forget(purchase.request.endpoint)
    return closedOrThrow(charge, sent.refusal)
  }

  /**
   * Continues a charge that an earlier attempt left open. Returns undefined when the charge is closed and the lookup
   * may start over.
   */
  async function finish(charge: Charge, purchase: Purchase): Promise<StoredAnswer | undefined> {
    const isSendable = secondsLeft(charge) >= lastSendSeconds && !dispatch.isElsewhere(charge)
    if (charge.state === 'journaled' && !isSendable) {
      if (await journal.withdraw(charge.id)) return undefined
      throw inDoubt('sent by another process in the meantime')
    }
    const { terms } = charge.authorization
    if (isRepeatedEnough(charge)) return closedOrThrow(charge, 'not done in time (408)')
    // No one can be asked whether the first request was charged, and a second one may be charged again.
    if (terms.protocol === 'api_key' && charge.state !== 'journaled') {
      if (!maySendAgain(charge, purchase.request.operation)) throw unknowable()
      return sendAgain(charge, purchase)
    }
    if (secondsLeft(charge) >= lastSendSeconds || terms.paymentIdentifier) {
      return sendAgain(charge, purchase)
    }
    return closedOrThrow(charge, charge.reason ?? 'too late to be sent again')
  }

  /**
   * Sends an open charge again. The kill switch holds for it too: an authorization that was sent and not used could still
   * move the money. Crash window: the switch is read in the statement that marks the charge as sent, so that nothing leaves
   * between an order to stop and its effect. Only when the chain says that the money has moved are the bytes sent while
   * spending or its run is stopped: they can bring nothing but the answer.
   */
  async function sendAgain(charge: Charge, purchase: Purchase): Promise<StoredAnswer | undefined> {
    try {
      return await send(charge, purchase, await acquirePermit(purchase))
    } catch (error) {
      const isStopped = error instanceof PaydirtError && stopCodes.includes(error.code)
      if (!isStopped || charge.state === 'journaled') throw error
      const fate = await dispatch.protocolOf(charge.authorization.terms).fate(charge.authorization)
      if (fate.kind !== 'used') throw error
      return send(charge, purchase, await acquirePermit(purchase), { isUsed: true })
    }
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
    if (fate.kind === 'used' && terms.paymentIdentifier && !isErased(purchase.request)) {
      // The money has moved, and the same bytes cannot move it again: sent, they can only bring the answer.
      const permit = await acquirePermit(purchase)
      const sent = await dispatch.send(charge, purchase.request, permit, { isUsed: true })
      if ('answer' in sent) return true
    }
    return (await decide(charge, charge.reason ?? 'too late to be sent again')) === 'closed'
  }

  async function closedOrThrow(charge: Charge, reason: string): Promise<undefined> {
    const decision = await decide(charge, reason)
    if (decision !== 'closed') throw decision
  }

  /**
   * Asks the chain what became of an open charge without an answer, and closes it when the chain gives a final result.
   */
  async function decide(charge: Charge, reason: string): Promise<'closed' | PaydirtError> {
    const fate = await dispatch.protocolOf(charge.authorization.terms).fate(charge.authorization)
    if (fate.kind === 'dead') {
      await journal.release(charge.id, 'expired', reason)
      return 'closed'
    }
    if (fate.kind === 'used') {
      if (fate.transaction !== null && (await options.usedBefore?.(charge.authorization, fate.transaction)))
        return inDoubt('the payment was made before the ledger was restored: the chain is read first', 30_000)
      const firstSentMs = charge.sentAt?.getTime() ?? now().getTime()
      const graceLeftMs = firstSentMs + answerGraceMs - now().getTime()
      if (graceLeftMs > 0) {
        return inDoubt('the money has moved, and the answer has not arrived', Math.min(graceLeftMs, 5_000))
      }
      await journal.lose(charge.id, fate.transaction, reason)
      return 'closed'
    }
    if (fate.kind === 'unknown' && !movesOnChain(charge.authorization.terms)) return unknowable()
    // While the authorization is valid, the same bytes may be sent again, at growing intervals. After that, only the
    // chain can be asked.
    return secondsLeft(charge) >= lastSendSeconds ? inDoubt(reason) : inDoubt(reason, 30_000)
  }

  function secondsLeft(charge: Charge): number {
    return charge.authorization.validBefore - now().getTime() / 1000
  }

  return { buy, recover, earlier: journal.unanswered }
}
