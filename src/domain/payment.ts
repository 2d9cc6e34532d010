import type { Atomic } from './money.ts'
import type { LookupKey } from './keys.ts'

/** The ways to pay. The chain shows whether an `mpp` payment was made. A `mpp_card` charge cannot be checked anywhere. */
const protocols = ['x402', 'mpp', 'mpp_card', 'api_key'] as const
export type Protocol = (typeof protocols)[number]

/** The unit of a charge: credits of the service for an API key, USD for everything else. Both are counted in millionths. */
export type Currency = 'USD' | 'credit'
export const currencyOf = (protocol: Protocol): Currency => (protocol === 'api_key' ? 'credit' : 'USD')

/**
 * Binds a challenge to one request. The server accepts it once, so its terms are never cached for the endpoint: every
 * lookup asks for a challenge of its own.
 */
export interface SingleUse {
  realm: string
  /** The digest of the request's body in the challenge (`sha-256=…`), or null when it names none. */
  digest: string | null
  /** When challenge and proof expire, in Unix seconds, or null when it names no time. */
  expiresAt: number | null
  /** The header that carries the proof, in lower case. */
  header: string
}

/**
 * One offer of a payment challenge, as read from the wire and not yet trusted. The spending policy checks the named fields.
 * `raw` has what the protocol needs to build the proof, unchanged for the journal.
 */
export interface Offer {
  protocol: Protocol
  version: number
  scheme: string
  network: string
  asset: string
  payTo: string
  /** As the server wrote it. Only the policy turns it into an amount. */
  amount: string
  /** The decimals of the amount by the challenge. Absent: those of the asset. */
  decimals?: number
  /** 0 where the challenge names its expiry: see `singleUse`. */
  maxTimeoutSeconds: number
  /** EIP-712 domain under which the token checks the signature. */
  domainName: string
  domainVersion: string
  /** The way the asset is transferred. On the chain, anything but EIP-3009 is refused. */
  transferMethod: string
  /** When the money moves: `after` the answer, or `unsaid` in a protocol without such a field. Anything else is refused. */
  paymentFlow: string
  /** Set for a challenge that is valid for one request. */
  singleUse?: SingleUse
  /** True when the server keeps answers by payment id and returns them again. */
  paymentIdentifier: boolean
  /** Set when the challenge, here or elsewhere, holds text that a database cannot keep. Such a challenge is refused. */
  isUnstorable?: true
  raw: Record<string, unknown>
}

/**
 * An offer that the policy has accepted, with its price in USDC's smallest unit for every protocol. Cached per endpoint
 * unless it is for single use, so that a paid lookup is one request.
 */
export interface Terms extends Omit<Offer, 'amount'> {
  amountAtomic: Atomic
}

/** Everything needed to rebuild the signed bytes of a payment exactly. It is in the journal before the first send. */
export interface Authorization {
  terms: Terms
  payer: string
  nonce: `0x${string}`
  /** Unix seconds. */
  validAfter: number
  /** Unix seconds. After this time, once final on the chain, the authorization is dead. */
  validBefore: number
  paymentId: string
}

/**
 * `reserved` is not a state of its own, because the budget and the journal row are one transaction. A charge is open while
 * it is `journaled`, `sent` or `in_doubt`, and blocks every other charge for its lookup.
 */
const chargeStates = ['journaled', 'sent', 'in_doubt', 'settled', 'declined', 'expired', 'lost'] as const
export type ChargeState = (typeof chargeStates)[number]
export const openChargeStates = ['journaled', 'sent', 'in_doubt'] as const satisfies ChargeState[]

export interface Charge {
  id: string
  lookupKey: LookupKey
  attempt: number
  runId: string
  state: ChargeState
  authorization: Authorization
  url: string
  body: string
  sends: number
  createdAt: Date
  sentAt: Date | null
  reason: string | null
}

/** The server's statement about the payment, beside the answer. */
export interface Receipt {
  success: boolean
  transaction: string | null
  reason: string | null
}

/** The state of an authorization on the chain. `dead`: unused, and expired in a final block. */
export type Fate =
  { kind: 'used'; transaction: string | null } | { kind: 'live' } | { kind: 'dead' } | { kind: 'unknown' }

export interface ResponseHead {
  status: number
  headers: Record<string, string>
  body: string
  /** Set when the body was longer than this and only its beginning was read. */
  cutAfterBytes?: number | undefined
}

/** A payment protocol. x402 and MPP implement it, and `singleUse` is the only difference that the payer sees. */
export interface PaymentProtocol {
  readonly name: Protocol
  /** Returns the offers of a challenge, from headers and body. Empty for any other response. Never throws. */
  offers(response: ResponseHead): Offer[]
  /** Draws the authorization that will be journaled, from `nowMs` and the attempt alone, without randomness. */
  draw(terms: Terms, attempt: { seed: string; nowMs: number; lifetimeSeconds: number }): Authorization
  /** Returns the proof's headers. The same authorization gives the same bytes. */
  headers(authorization: Authorization): Promise<Record<string, string>>
  /** True where `headers` asks others for the proof, as for a card's token at its issuer. Otherwise nothing leaves this process. */
  readonly asksForProof?: boolean
  receipt(response: ResponseHead): Receipt | undefined
  /**
   * Returns true when this response alone proves that nothing was charged and nothing can be charged any more. A payment on
   * the chain never can: a signed authorization stays usable until it expires.
   */
  isUncharged?(response: ResponseHead): boolean
  fate(authorization: Authorization): Promise<Fate>
}
