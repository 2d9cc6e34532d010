import type { Chain } from '../chain/chain.ts'
import type { Faults } from '../faults/faults.ts'
import type { SettlementOrder } from './facilitator.ts'
import { readIdentifier } from './identifier.ts'
import type { MppPaywall } from './mpp.ts'
import type { Entered, PaidRequest, Paywall, Refusal } from './paywall.ts'
import { settlementOf } from './settlement-of.ts'
import type { Headers } from './wire.ts'

/** The faults as they stand, with the offers that this request meets. */
export type TillTerms = Pick<
  Faults,
  'offers' | 'challenge' | 'challengeProtocols' | 'paymentIdentifier' | 'mpp'
>

/** A proof that came with a request, of whatever protocol. */
export interface Payment {
  /** Under which its answer is kept and repeated, where the switch says so. */
  identifier: { id: string } | 'malformed' | null
  /** What was signed: by it two sends of one payment are told from two payments. */
  signed: unknown
  /** The headers that tell of its settlement, or null if the chain has not seen it used. */
  settlement(): Promise<Headers | null>
  /** Verifies it, or answers with a challenge. */
  enter(order: SettlementOrder): Promise<Entered | Refusal>
}

/** Where lookups are paid for, by one protocol or by either. */
export interface Till {
  payment(request: PaidRequest, terms: TillTerms): Promise<Payment | null>
  challenge(request: PaidRequest, terms: TillTerms, order: SettlementOrder): Promise<Refusal>
}

export function createTill(x402: Paywall, mpp: MppPaywall, chain: Chain): Till {
  async function challenge(request: PaidRequest, terms: TillTerms, order: SettlementOrder) {
    const entered =
      terms.challengeProtocols === 'mpp'
        ? { status: 402, headers: { 'cache-control': 'no-store' }, body: {} }
        : await x402.enter(request, null, { ...terms, order })
    if (!('status' in entered)) throw new Error('a lookup was let in without a payment')
    if (terms.challengeProtocols === 'x402') return entered
    const headers = { ...entered.headers, 'www-authenticate': await mpp.challenges(request, terms) }
    return { ...entered, headers }
  }

  /** A refused payment meets every way to pay, as an unpaid request does. */
  async function withAllOffers(
    entered: Entered | Refusal,
    request: PaidRequest,
    terms: TillTerms,
    order: SettlementOrder,
  ): Promise<Entered | Refusal> {
    if (!('status' in entered) || entered.status !== 402 || terms.challengeProtocols !== 'both')
      return entered
    const { headers } = await challenge(request, terms, order)
    return { ...entered, headers: { ...headers, ...entered.headers } }
  }

  return {
    challenge,

    async payment(request, terms) {
      const proof = terms.challengeProtocols === 'mpp' ? null : await x402.proof(request, terms.offers)
      if (proof !== null) {
        return {
          identifier: terms.paymentIdentifier ? readIdentifier(proof.payload) : null,
          signed: proof.payload.payload,
          settlement: () => settlementOf(chain, proof),
          enter: async (order) =>
            withAllOffers(await x402.enter(request, proof, { ...terms, order }), request, terms, order),
        }
      }
      const credential = terms.challengeProtocols === 'x402' ? null : mpp.credential(request, terms)
      if (credential === null) return null
      return {
        identifier: terms.mpp.idempotencyKey ? readKey(request.header('idempotency-key')) : null,
        signed: credential.payload,
        settlement: () => mpp.settlementOf(credential),
        enter: async (order) =>
          withAllOffers(await mpp.enter(request, credential, terms, order), request, terms, order),
      }
    },
  }
}

function readKey(key: string | undefined) {
  if (key === undefined) return null
  return /^[\x21-\x7e]{1,255}$/.test(key) ? { id: key } : 'malformed'
}
