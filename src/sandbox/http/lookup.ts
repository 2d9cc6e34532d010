import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { FacilitatorResponseError } from '@x402/core/server'
import type { ProfileKind } from '../data/profile-url.ts'
import { companyAnswer } from '../data/company.ts'
import { personAnswer } from '../data/person.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { RateLimiter } from '../faults/rate-limiter.ts'
import type { SettlementOrder, SettlementPlan } from '../payment/facilitator.ts'
import type { IdentifiedPayment, IdentifierBook } from '../payment/identifier.ts'
import type { PaidRequest } from '../payment/paywall.ts'
import type { Payment, Till, TillTerms } from '../payment/till.ts'
import { fraction } from '../random.ts'
import type { StatsBook } from '../stats.ts'
import type { Answer } from './answer.ts'
import { keyOf, readLookupBody } from './lookup-body.ts'
import { isGenericUserAgent } from './user-agent.ts'

export interface LookupRequest extends PaidRequest {
  kind: ProfileKind
}

export interface LookupContext {
  faults: FaultSwitch
  limiter: RateLimiter
  till: Till
  identifiers: IdentifierBook<unknown>
  stats: StatsBook
  logoUrl(): string
  networkName: string
}

/** Answers one lookup: the edge first, then the paywall, the lookup itself, and the settlement last. */
export async function lookup(context: LookupContext, request: LookupRequest): Promise<Answer> {
  const { faults, till, stats, networkName } = context
  const asked = keyOf(request.kind, networkName, request.body)
  if (asked !== null) stats.asked(asked)
  const key = asked ?? 'none'

  const refused = atTheEdge(context, request, key)
  if (refused !== null) return refused

  const changed = faults.strikes('changedOffers', key)
  const terms = { ...faults.current, offers: changed?.offers ?? faults.current.offers }
  const sent = await till.payment(request, terms)
  const payment = sent !== null && faults.strikes('challengeAgain', key) ? null : sent
  const visit: Visit = { ...context, request, key, terms }
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
  key: string
  terms: TillTerms
}

function atTheEdge(
  { faults, limiter, stats }: LookupContext,
  request: LookupRequest,
  key: string,
): Answer | null {
  if (faults.current.blockGenericUserAgents && isGenericUserAgent(request.header('user-agent'))) {
    return { status: 403, body: 'error code: 1010' }
  }
  const rule = faults.current.rateLimit
  if (rule !== null && !limiter.admit(rule, performance.now())) {
    stats.rateLimited()
    return { status: 429, body: { error: 'Rate limit exceeded' } }
  }
  if (faults.strikes('dropAtDoor', key)) return 'drop'
  const error = faults.strikes('errorAtDoor', key)
  return error && { status: error.status, body: { error: 'Unexpected server error' } }
}

/** What is known under the identifier is given out once its payment has settled; else it is a payment like any other. */
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
  const { till, request, terms, stats } = visit
  const challenge = await till.challenge(request, terms, orderFor(visit))
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
    const entered = await payment.enter(orderFor(visit))
    if ('status' in entered) {
      stats.challenged()
      return entered
    }

    const { status, body } = await handle(visit)
    if (status >= 400) {
      await entered.cancel(status)
      return { status, body }
    }
    if (known !== null) known.answer = body
    if (faults.strikes('dropBeforeSettlement', key)) return 'drop'

    const settlement = await entered.settle(Buffer.from(JSON.stringify(body)))
    if (settlement.refusal !== null) return settlement.refusal
    const error = faults.strikes('errorAfterSettlement', key)
    if (error) return { status: error.status, body: { error: 'Unexpected server error' } }
    if (faults.strikes('dropAfterSettlement', key)) return 'drop'
    if (faults.strikes('challengeAfterSettlement', key)) return await challenged(visit)
    stats.answered(false)
    return { status: 200, headers: settlement.headers, body }
  } catch (error) {
    if (error instanceof FacilitatorResponseError) return { status: 502, body: { error: error.message } }
    throw error
  }
}

function orderFor({ faults, stats, key }: Visit): SettlementOrder {
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
      if (success) stats.payment(key, transaction, 'settled')
      else if (errorReason === 'settlement_pending') stats.payment(key, transaction, 'pending')
    },
  }
}

/** The lookup behind the paywall. It reads the body, so a malformed request is refused after its payment was verified. */
async function handle({
  faults,
  request,
  key,
  networkName,
  logoUrl,
}: Visit): Promise<{ status: number; body: unknown }> {
  const { latency, seed } = faults.current
  if (latency !== null) {
    const { minMs, maxMs } = latency
    await delay(minMs + fraction(`${seed} latency ${key}`) * Math.max(0, maxMs - minMs))
  }
  const error = faults.strikes('errorAfterVerification', key)
  if (error) return { status: error.status, body: { error: 'Unexpected server error' } }

  const body = readLookupBody(request.kind, networkName, request.header('content-type'), request.body)
  if ('code' in body) return { status: 400, body }
  const answer = request.kind === 'company' ? companyAnswer : personAnswer
  const { data } = answer(body.url, { logoUrl: logoUrl() })
  const metadata = body.ignoredFields.length > 0 && { metadata: { ignored_fields: body.ignoredFields } }
  return { status: 200, body: renameKeys({ data, ...metadata }, networkName) }
}

/** Puts the network's own name in the place of the neutral word, in keys only. */
function renameKeys(value: unknown, word: string): unknown {
  if (word === 'profnet' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => renameKeys(each, word))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.replace('profnet', word), renameKeys(each, word)]),
  )
}

function fingerprint(request: LookupRequest, { signed }: Payment) {
  return createHash('sha256')
    .update(JSON.stringify([request.method, request.path, request.body, signed]))
    .digest('hex')
}
