import type { Atomic } from './money.ts'
import type { LookupKey } from './keys.ts'

/** `mpp` moves USDC on the chain and can be asked whether it did; `mpp_card` charges a card, and nobody can be asked. */
const protocols = ['x402', 'mpp', 'mpp_card', 'api_key'] as const
export type Protocol = (typeof protocols)[number]

/** What a charge is counted in: an API key is charged in credits of the service, everything else in USD. Both in millionths. */
export type Currency = 'USD' | 'credit'
export const currencyOf = (protocol: Protocol): Currency => (protocol === 'api_key' ? 'credit' : 'USD')

/**
 * What ties a challenge to one request. Whoever offers it takes it once, so its terms are never remembered for the
 * endpoint: every lookup asks for a challenge of its own.
 */
export interface SingleUse {
  realm: string
  /** Of the request's body, as the challenge has it (`sha-256=…`); null when it names none. */
  digest: string | null
  /** Unix seconds at which challenge and proof end; null when it names no time. */
  expiresAt: number | null
  /** The header that carries the proof, in lower case. */
  header: string
}

/**
 * One offer of a payment challenge, as read from the wire and not yet trusted. The spending policy looks at the named
 * fields; `raw` is what the protocol needs to build the proof, kept to the letter for the journal.
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
  /** Decimals that the challenge says its amount has; absent: those of the asset. */
  decimals?: number | undefined
  /** 0 where the challenge names the end itself: see `singleUse`. */
  maxTimeoutSeconds: number
  /** EIP-712 domain under which the token checks the signature. */
  domainName: string
  domainVersion: string
  /** How the asset moves: on the chain anything but EIP-3009 is refused. */
  transferMethod: string
  /** When the money moves: `after` the answer; `unsaid` in a protocol that has no word for it. Anything else is refused. */
  paymentFlow: string
  /** Only of a challenge that is good for one request. */
  singleUse?: SingleUse
  /** The server keeps answers by payment id and gives them again. */
  paymentIdentifier: boolean
  raw: Record<string, unknown>
}

/**
 * An offer that the policy has let through, with its price read in USDC's smallest unit whatever it is paid in. Cached
 * per endpoint unless it is for single use: a paid lookup is then one request.
 */
export interface Terms extends Omit<Offer, 'amount'> {
  amountAtomic: Atomic
}

/** Everything from which the signed bytes of a payment can be rebuilt, byte for byte. It stands in the journal before the first send. */
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
 * `reserved` is not a state of its own: budget and journal row are one transaction. A charge is open, and blocks every
 * other charge for its lookup, while it is `journaled`, `sent` or `in_doubt`.
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

/** What the server said of the money, beside the answer. */
export interface Receipt {
  success: boolean
  transaction: string | null
  reason: string | null
}

/** What the chain says of an authorization. `dead`: unused and past its time in a final block. */
export type Fate =
  { kind: 'used'; transaction: string | null } | { kind: 'live' } | { kind: 'dead' } | { kind: 'unknown' }

export interface ResponseHead {
  status: number
  headers: Record<string, string>
  body: string
}

/** A way of paying. x402 and MPP implement it; the payer knows no other difference between them than `singleUse`. */
export interface PaymentProtocol {
  readonly name: Protocol
  /** Every offer of a challenge, wherever it stands; none when the answer is no challenge of this protocol. Never throws. */
  offers(response: ResponseHead): Offer[]
  /** Draws up what will be journaled. `nowMs` and the identity of the attempt are its only inputs: no randomness. */
  draw(terms: Terms, attempt: { seed: string; nowMs: number; lifetimeSeconds: number }): Authorization
  /** The proof's headers: the same authorization gives the same bytes. */
  headers(authorization: Authorization): Promise<Record<string, string>>
  receipt(response: ResponseHead): Receipt | undefined
  /**
   * True when this answer alone proves that nothing was charged and nothing can be any more. No payment on the chain can
   * say so: what was signed stays alive until its time is over.
   */
  isUncharged?(response: ResponseHead): boolean
  fate(authorization: Authorization): Promise<Fate>
}
