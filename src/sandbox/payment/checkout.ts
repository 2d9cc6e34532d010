import type { Chain } from '../chain/chain.ts'
import type { Faults } from '../faults/faults.ts'
import type { SettlementOrder } from './facilitator.ts'
import { readIdentifier } from './identifier.ts'
import type { MppPaywall } from './mpp.ts'
import type { Entered, PaidRequest, Paywall, Refusal } from './paywall.ts'
import { settlementOf } from './settlement-of.ts'
import type { Headers } from './wire.ts'

/** The current faults, with the offers for this request. */
export type CheckoutSettings = Pick<
  Faults,
  'offers' | 'challenge' | 'challengeProtocols' | 'paymentIdentifier' | 'mpp'
>

/** A proof that came with a request, of any protocol. */
export interface Payment {
  /** Key under which its answer is stored and repeated, where the fault switch says so. */
  identifier: { id: string } | 'malformed' | null
  /** The signed content. It distinguishes two payments from one payment that is sent twice. */
  signed: unknown
  /** Returns the headers of its settlement, or null if the chain has not recorded its use. */
  settlement(): Promise<Headers | null>
  /** Verifies it, or answers with a challenge. */
  enter(order: SettlementOrder): Promise<Entered | Refusal>
}

/** Takes payments for lookups, by one protocol or by both. */
export interface Checkout {
  payment(request: PaidRequest, settings: CheckoutSettings): Promise<Payment | null>
  challenge(request: PaidRequest, settings: CheckoutSettings, order: SettlementOrder): Promise<Refusal>
}

export function createCheckout(x402: Paywall, mpp: MppPaywall, chain: Chain): Checkout {
  async function challenge(request: PaidRequest, settings: CheckoutSettings, order: SettlementOrder) {
    const entered =
      settings.challengeProtocols === 'mpp'
        ? { status: 402, headers: { 'cache-control': 'no-store' }, body: {} }
        : await x402.enter(request, null, { ...settings, order })
    if (!('status' in entered)) throw new Error('a lookup was let in without a payment')
    if (settings.challengeProtocols === 'x402') return entered
    const headers = { ...entered.headers, 'www-authenticate': await mpp.challenges(request, settings) }
    return { ...entered, headers }
  }

  /** A refused payment is offered every payment method, as an unpaid request is. */
  async function withAllOffers(
    entered: Entered | Refusal,
    request: PaidRequest,
    settings: CheckoutSettings,
    order: SettlementOrder,
  ): Promise<Entered | Refusal> {
    if (!('status' in entered) || entered.status !== 402 || settings.challengeProtocols !== 'both')
      return entered
    const { headers } = await challenge(request, settings, order)
    return { ...entered, headers: { ...headers, ...entered.headers } }
  }

  return {
    challenge,

    async payment(request, settings) {
      const proof = settings.challengeProtocols === 'mpp' ? null : await x402.proof(request, settings.offers)
      if (proof !== null) {
        return {
          identifier: settings.paymentIdentifier ? readIdentifier(proof.payload) : null,
          signed: proof.payload.payload,
          settlement: () => settlementOf(chain, proof),
          enter: async (order) =>
            withAllOffers(await x402.enter(request, proof, { ...settings, order }), request, settings, order),
        }
      }
      const credential = settings.challengeProtocols === 'x402' ? null : mpp.credential(request, settings)
      if (credential === null) return null
      return {
        identifier: settings.mpp.idempotencyKey ? readKey(request.header('idempotency-key')) : null,
        signed: credential.payload,
        settlement: () => mpp.settlementOf(credential),
        enter: async (order) =>
          withAllOffers(await mpp.enter(request, credential, settings, order), request, settings, order),
      }
    },
  }
}

function readKey(key: string | undefined) {
  if (key === undefined) return null
  return /^[\x21-\x7e]{1,255}$/.test(key) ? { id: key } : 'malformed'
}
