import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { FacilitatorResponseError } from '@x402/core/server'
import { API_KEY_HEADER, type Account, type Accounts } from '../accounts.ts'
import { bendAnswer } from '../faults/bend-answer.ts'
import { bendRequest } from '../faults/bend-request.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Offer } from '../faults/faults.ts'
import type { RateLimiter } from '../faults/rate-limiter.ts'
import type { SettlementOrder, SettlementPlan } from '../payment/facilitator.ts'
import type { IdentifiedPayment, IdentifierStore } from '../payment/identifier.ts'
import { PRICE_ATOMIC } from '../payment/offers.ts'
import type { PaidRequest } from '../payment/paywall.ts'
import type { Payment, Checkout, CheckoutSettings } from '../payment/checkout.ts'
import type { Headers } from '../payment/wire.ts'
import { ceilingAtomic } from '../prices.ts'
import { fraction } from '../random.ts'
import type { StatsCounter } from '../stats.ts'
import type { Answer } from './answer.ts'
import { creditBlock } from './account.ts'
import { atTheEdge, failed } from './edge.ts'
import type { PaidEndpoint } from './paid-endpoint.ts'
import { renameKeys } from './rename-keys.ts'
import { OVER_QUOTA } from './request-body.ts'

export interface LookupRequest extends PaidRequest {
  endpoint: PaidEndpoint
}

export interface LookupContext {
  faults: FaultSwitch
  limiter: RateLimiter
  checkout: Checkout
  identifiers: IdentifierStore<unknown>
  /** Headers of the settlements whose payments were taken and not answered in time, by request and payment. */
  unanswered: Map<string, Headers>
  accounts: Accounts
  stats: StatsCounter
  logoUrl(): string
  networkName: string
}

/** Answers one lookup: the edge first, then the paywall, the lookup itself, and the settlement last. */
export async function lookup(context: LookupContext, request: LookupRequest): Promise<Answer> {
  const { faults, checkout, stats, networkName } = context
  const keys = request.endpoint.keys(request.body, networkName)
  for (const asked of keys) stats.asked(asked)
  const key =
    keys.length > 1 ? createHash('sha256').update(keys.join('\n')).digest('hex') : (keys[0] ?? 'none')

  const refused = atTheEdge(context, request, key)
  if (refused !== null) return refused
  const apiKey = request.header(API_KEY_HEADER)
  if (apiKey !== undefined) return direct(context, request, key, apiKey)

  const changed = faults.strikes('changedOffers', key)
  const price = ceilingAtomic(request.endpoint.ceiling(request.body, faults.current.prices))
  const offers = (changed?.offers ?? faults.current.offers).map((offer) => priced(offer, price))
  const settings = { ...faults.current, offers }
  const sent = await checkout.payment(request, settings)
  const payment = sent !== null && faults.strikes('challengeAgain', key) ? null : sent
  const visit: Visit = { ...context, request, key, keys, settings, account: undefined }
  if (payment === null) return challenged(visit)

  const { identifier } = payment
  if (identifier === null) return pay(visit, payment, null)
  if (identifier === 'malformed') {
    return { status: 400, body: { code: 40001, message: 'Malformed payment identifier', details: {} } }
  }
  const answer = await context.identifiers.exclusively(
    identifier.id,
    (known) => payOrRepeat(visit, payment, known),
    fingerprint(request, payment),
  )
  if (answer === 'conflict') {
    return { status: 409, body: { error: 'The payment identifier was used with another payment' } }
  }
  return answer
}

interface Visit extends LookupContext {
  request: LookupRequest
  /** The key of everything the request asks for. Faults are drawn by it. */
  key: string
  keys: readonly string[]
  settings: CheckoutSettings
  account: Account | undefined
}

/** An offer asks for the request's own price unless the fault switch sets another. */
function priced(offer: Offer, price: string): Offer {
  return price === PRICE_ATOMIC ? offer : { amountAtomic: price, ...offer }
}

/** Without payment: the key names a workspace, and its credits are counted when the answer is ready. */
async function direct(
  context: LookupContext,
  request: LookupRequest,
  key: string,
  apiKey: string,
): Promise<Answer> {
  const { faults, stats, accounts } = context
  const account = accounts.find(apiKey)
  if (account === undefined) return { status: 401, body: { error: 'Unknown API key' } }
  if (!account.canAfford(request.endpoint.ceiling(request.body, faults.current.prices))) {
    const message = 'The credits do not cover this request'
    return { status: 416, body: { code: OVER_QUOTA, message, details: {} } }
  }
  const { status, credits, finish } = await handle({ ...context, request, key, account })
  if (status >= 400) return { status, body: finish() }
  if (faults.strikes('dropBeforeSettlement', key)) return 'drop'
  account.take(request.endpoint.name, credits)
  const error = faults.strikes('errorAfterSettlement', key)
  if (error) return failed(error.status)
  if (faults.strikes('dropAfterSettlement', key)) return 'drop'
  stats.answered(false)
  return { status: faults.strikes('settledStatus', key)?.status ?? 200, body: finish() }
}

/** A known identifier gets its stored answer once its payment has settled. Otherwise it is an ordinary payment. */
async function payOrRepeat(
  visit: Visit,
  payment: Payment,
  known: IdentifiedPayment<unknown>,
): Promise<Answer> {
  const { faults, stats, key } = visit
  if (known.answer !== null) {
    // The server may not know of the settlement: the facilitator timed out, or the money moved later.
    const headers = await payment.settlement()
    if (headers !== null) {
      if (faults.strikes('dropAfterSettlement', key)) return 'drop'
      stats.answered(true)
      return { status: 200, headers, body: known.answer }
    }
  }
  return pay(visit, payment, known)
}

async function challenged(visit: Visit): Promise<Answer> {
  const { checkout, request, settings, stats } = visit
  const challenge = await checkout.challenge(request, settings, orderFor(visit))
  stats.challenged()
  return challenge
}

async function pay(
  visit: Visit,
  payment: Payment,
  known: IdentifiedPayment<unknown> | null,
): Promise<Answer> {
  const { faults, stats, key } = visit
  try {
    const taken = visit.unanswered.get(fingerprint(visit.request, payment))
    if (taken !== undefined) return await answerLate(visit, payment, taken)
    const entered = await payment.enter(orderFor(visit))
    if ('status' in entered) {
      stats.challenged()
      return entered
    }

    const handled = await handle(visit)
    const body = handled.finish()
    if (handled.status === 408 && (entered.isSettled || faults.current.summaryTimeout.settles)) {
      const { headers, refusal } = await entered.settle(Buffer.from(JSON.stringify(body)))
      if (refusal !== null) return refusal
      visit.unanswered.set(fingerprint(visit.request, payment), headers)
      return { status: handled.status, headers, body }
    }
    if (handled.status >= 400) {
      await entered.cancel(handled.status)
      return { status: handled.status, body }
    }
    if (known !== null) known.answer = body
    if (faults.strikes('dropBeforeSettlement', key)) return 'drop'

    const settlement = await entered.settle(Buffer.from(JSON.stringify(body)))
    if (settlement.refusal !== null) return settlement.refusal
    const error = faults.strikes('errorAfterSettlement', key)
    if (error) return failed(error.status)
    if (faults.strikes('dropAfterSettlement', key)) return 'drop'
    if (faults.strikes('challengeAfterSettlement', key)) return await challenged(visit)
    stats.answered(false)
    const status = faults.strikes('settledStatus', key)?.status ?? 200
    return { status, headers: settlement.headers, body }
  } catch (error) {
    if (error instanceof FacilitatorResponseError) return { status: 502, body: { error: error.message } }
    throw error
  }
}

/** A payment that was taken before its answer was ready buys one answer, without another settlement. */
async function answerLate(visit: Visit, payment: Payment, headers: Headers): Promise<Answer> {
  const { status, finish } = await handle(visit)
  const body = finish()
  if (status < 400) {
    visit.unanswered.delete(fingerprint(visit.request, payment))
    visit.stats.answered(false)
  }
  return { status, headers, body }
}

function orderFor({ faults, stats, key, keys }: Visit): SettlementOrder {
  const paid = keys.length === 0 ? [key] : keys
  return {
    plan() {
      const plan: SettlementPlan = {}
      const slow = faults.strikes('slowFacilitator', key)
      if (slow) plan.slowMs = slow.delayMs
      const pending = faults.strikes('settlementPending', key)
      if (pending) plan.pendingMs = pending.delayMs
      const timeout = faults.strikes('facilitatorTimeout', key)
      if (timeout) plan.timeoutAfterMs = timeout.delayMs
      return plan
    },
    outcome({ success, transaction, errorReason }) {
      if (success) stats.payment(paid, transaction, 'settled')
      else if (errorReason === 'settlement_pending') stats.payment(paid, transaction, 'pending')
    },
  }
}

interface Handled {
  status: number
  credits: number
  /** Returns the body. Called after its credits are counted, because the body states the remaining credits. */
  finish(): unknown
}

/**
 * The lookup behind the paywall. It reads the body, so a malformed request is refused after its payment was verified.
 */
async function handle({
  faults,
  request,
  key,
  account,
  networkName,
  logoUrl,
}: Omit<Visit, 'keys' | 'settings'>): Promise<Handled> {
  const { latency, seed, prices } = faults.current
  if (latency !== null) {
    const { minMs, maxMs } = latency
    await delay(minMs + fraction(`${seed} latency ${key}`) * Math.max(0, maxMs - minMs))
  }
  const error = faults.strikes('errorAfterVerification', key)
  if (error) {
    return { ...failed(error.status), credits: 0, finish: () => failed(error.status).body }
  }

  const { name } = request.endpoint
  const bent = bendRequest(faults.current, name, request.body)
  const answered = await request.endpoint.answer({
    text: bent.text,
    contentType: request.header('content-type'),
    word: networkName,
    prices,
    faults,
    logoUrl: logoUrl(),
    account,
  })
  if ('refused' in answered) {
    return { status: answered.status, credits: 0, finish: () => answered.refused }
  }
  const { data, credits, creditsAt, metadata: further } = answered
  const ignoredFields = [...bent.ignoredFields, ...answered.ignoredFields]
  return {
    status: 200,
    credits,
    finish() {
      const block = creditsAt === 'nowhere' ? {} : creditBlock(account, credits)
      const metadata = {
        ...(creditsAt === 'metadata' && block),
        ...further,
        ...(ignoredFields.length > 0 && { ignored_fields: ignoredFields }),
        ...(bent.renamedFields.length > 0 && { renamed_fields: bent.renamedFields }),
      }
      const good = renameKeys(
        {
          data: creditsAt === 'data' ? { ...(data as object), ...block } : data,
          ...(Object.keys(metadata).length > 0 && { metadata }),
        },
        networkName,
      )
      return bendAnswer(faults, name, key, good)
    },
  }
}

function fingerprint(request: LookupRequest, { signed }: Payment) {
  return createHash('sha256')
    .update(JSON.stringify([request.method, request.path, request.body, signed]))
    .digest('hex')
}
