import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { FacilitatorResponseError } from '@x402/core/server'
import type { ProfileKind } from '../data/profile-url.ts'
import { companyAnswer } from '../data/company.ts'
import { personAnswer } from '../data/person.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Faults } from '../faults/faults.ts'
import type { RateLimiter } from '../faults/rate-limiter.ts'
import type { ExactPayload, SettlementOrder, SettlementPlan } from '../payment/facilitator.ts'
import type { IdentifiedPayment, IdentifierBook } from '../payment/identifier.ts'
import { readIdentifier } from '../payment/identifier.ts'
import type { Paywall, PaywallRequest } from '../payment/paywall.ts'
import type { Headers, Proof } from '../payment/wire.ts'
import { fraction } from '../random.ts'
import type { StatsBook } from '../stats.ts'
import type { Answer } from './answer.ts'
import { keyOf, readLookupBody } from './lookup-body.ts'
import { isGenericUserAgent } from './user-agent.ts'

export interface LookupRequest extends PaywallRequest {
  kind: ProfileKind
  body: string | null
}

export interface LookupContext {
  faults: FaultSwitch
  limiter: RateLimiter
  paywall: Paywall
  identifiers: IdentifierBook<unknown>
  /** The header that tells of the settlement of an authorization, or null if the chain has not seen it used. */
  settlementOf(proof: Proof): Promise<Headers | null>
  stats: StatsBook
  logoUrl(): string
  networkName: string
}

/** Answers one lookup: the edge first, then the paywall, the lookup itself, and the settlement last. */
export async function lookup(context: LookupContext, request: LookupRequest): Promise<Answer> {
  const { faults, paywall, stats, networkName } = context
  const asked = keyOf(request.kind, networkName, request.body)
  if (asked !== null) stats.asked(asked)
  const key = asked ?? 'none'

  const refused = atTheEdge(context, request, key)
  if (refused !== null) return refused

  const changed = faults.strikes('changedOffers', key)
  const offers = changed?.offers ?? faults.current.offers
  const proof = await paywall.proof(request, offers)
  const accepted = proof !== null && faults.strikes('challengeAgain', key) ? null : proof
  const visit: Visit = { ...context, request, key, offers, proof: accepted }

  if (accepted === null || !faults.current.paymentIdentifier) return pay(visit, null)
  const identifier = readIdentifier(accepted.payload)
  if (identifier === null) return pay(visit, null)
  if (identifier === 'malformed') {
    return { status: 400, body: { code: 40001, message: 'Malformed payment identifier', details: {} } }
  }
  const answer = await context.identifiers.exclusively(
    identifier.id,
    (known) => payOrRepeat(visit, accepted, known),
    fingerprint(request, accepted),
  )
  if (answer === 'conflict') {
    return { status: 409, body: { error: 'The payment identifier was used with another payment' } }
  }
  return answer
}

interface Visit extends LookupContext {
  request: LookupRequest
  key: string
  offers: Faults['offers']
  proof: Proof | null
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
async function payOrRepeat(visit: Visit, proof: Proof, known: IdentifiedPayment<unknown>): Promise<Answer> {
  const { faults, stats, key, settlementOf } = visit
  if (known.answer !== null) {
    // The server may not know of the settlement: the facilitator timed out, or the money moved later.
    const headers = await settlementOf(proof)
    if (headers !== null) {
      if (faults.strikes('dropAfterSettlement', key)) return 'drop'
      stats.answered(true)
      return { status: 200, headers, body: known.answer }
    }
  }
  return pay(visit, known)
}

async function pay(visit: Visit, known: IdentifiedPayment<unknown> | null): Promise<Answer> {
  const { faults, paywall, stats, request, proof, offers, key } = visit
  const { challenge, paymentIdentifier } = faults.current
  try {
    const entered = await paywall.enter(request, proof, {
      offers,
      challenge,
      paymentIdentifier,
      order: orderFor(visit),
    })
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

function fingerprint(request: LookupRequest, proof: Proof) {
  const payment = proof.payload.payload as unknown as ExactPayload
  return createHash('sha256')
    .update(JSON.stringify([request.method, request.path, request.body, payment]))
    .digest('hex')
}
