import { z } from 'zod'
import { OTHER_TOKEN } from '../chain/token.ts'
import { planSchema } from '../plan.ts'
import { pricesSchema } from '../prices.ts'
import { actionFaults, deliveryFaults } from './action-faults.ts'
import { searchFaults } from './search-faults.ts'
import { errorStatus as status, fault, milliseconds } from './trigger.ts'

const rateLimitSchema = z.strictObject({
  kind: z.enum(['fixed', 'sliding', 'bucket']).default('fixed'),
  limit: z.int().min(1),
  windowMs: z.int().min(1),
  /** True where a refused request uses up the limit too. */
  countRefused: z.boolean().default(false),
  /** `Retry-After` of a refusal, as it is sent. */
  retryAfter: z.string().optional(),
})

/** One entry of a challenge's `accepts`. Fields that are left out are as in the real service. */
const offerSchema = z.strictObject({
  amountAtomic: z
    .string()
    .regex(/^-?\d+$/)
    .optional(),
  payTo: z.string().optional(),
  asset: z.string().optional(),
  network: z.string().optional(),
  scheme: z.string().optional(),
  domainName: z.string().optional(),
  domainVersion: z.string().optional(),
  assetTransferMethod: z.string().optional(),
  paymentFlow: z.string().optional(),
  maxTimeoutSeconds: z.int().optional(),
  // For MPP challenges only.
  method: z.string().optional(),
  intent: z.string().optional(),
  realm: z.string().optional(),
  digest: z.string().optional(),
  decimals: z.int().optional(),
  header: z.string().optional(),
  splits: z.array(z.strictObject({ amount: z.string(), recipient: z.string() })).optional(),
})
const offersSchema = z.array(offerSchema).min(1)

export const faultsSchema = z.strictObject({
  /** Decides which requests the shares hit. The same seed and the same requests give the same faults. */
  seed: z.int().default(1),

  rateLimit: rateLimitSchema.nullable().default(null),
  logoRateLimit: rateLimitSchema.nullable().default(null),
  /** Duration of the lookup itself, after verification. */
  latency: z.strictObject({ minMs: milliseconds, maxMs: milliseconds }).nullable().default(null),
  /** Additional duration of a company enrichment: 30 to 60 seconds in the real service. */
  enrichmentLatency: z.strictObject({ minMs: milliseconds, maxMs: milliseconds }).nullable().default(null),

  prices: pricesSchema.prefault({}),
  plan: planSchema.prefault({}),
  /** Number of polls for a batch of redemptions that are answered before the batch is complete. */
  batchPending: z.int().min(0).default(1),
  /** Redemptions answer `[]` where the real service answers null. */
  nothingAsEmptyList: z.boolean().default(false),

  /** Refused with a 5xx before the payment is read. */
  errorAtDoor: fault({ status: status.default(500) }),
  /** The lookup fails after the payment was verified: nothing is settled, and the authorization stays valid. */
  errorAfterVerification: fault({ status: status.default(500) }),
  /** The connection is cut before the request is read as a payment. */
  dropAtDoor: fault({}),
  /** The connection is cut after verification; nothing is settled. */
  dropBeforeSettlement: fault({}),
  /** The payment settles and the connection is cut: the answer is lost. */
  dropAfterSettlement: fault({}),
  /** A 402 that carries a transaction hash, and the money moves `delayMs` later. */
  settlementPending: fault({ delayMs: milliseconds.default(2000) }),
  /** Settlement takes `delayMs` longer. */
  slowFacilitator: fault({ delayMs: milliseconds.default(2000) }),
  /** The payment settles, then the facilitator times out towards the server, which answers 502. */
  facilitatorTimeout: fault({ delayMs: milliseconds.default(0) }),
  /** The payment settles, and the server still answers 500. */
  errorAfterSettlement: fault({ status: status.default(500) }),
  /** The payment settles, and its answer goes out with this status: servers settle with every status below 400. */
  settledStatus: fault({ status: z.int().min(200).max(299).default(202) }),
  /** The payment settles, and the server answers with a new 402 challenge: stock clients pay again and again. */
  challengeAfterSettlement: fault({}),
  /** Answers every payment with another challenge; nothing is settled. `share: 1` is the endless loop. */
  challengeAgain: fault({}),

  /** The protocols by which a lookup can be paid for. With `both`, one 402 holds a challenge of each. */
  challengeProtocols: z.enum(['x402', 'mpp', 'both']).default('x402'),
  mpp: z
    .strictObject({
      /**
       * The header in which the proof is requested, as newer servers do. Null means the scheme's own, `Authorization`.
       */
      header: z.string().nullable().default(null),
      /** Null means the name of the host. */
      realm: z.string().nullable().default(null),
      /**
       * Binds the challenge to the request's body. The stock server does not: its ids then repeat within a millisecond.
       */
      digest: z.boolean().default(true),
      /** Settles before the lookup, as the stock server does. A lookup that fails is then charged too. */
      settleFirst: z.boolean().default(false),
      /** Answers a known `Idempotency-Key` without another settlement. */
      idempotencyKey: z.boolean().default(false),
      /** Adds a second challenge to the same header, for a card, which nothing here can settle. */
      card: z.boolean().default(false),
    })
    .prefault({}),
  /** Version and place of the x402 challenge. A v1 challenge is always in the body. */
  challenge: z
    .strictObject({
      version: z.union([z.literal(1), z.literal(2)]).default(2),
      place: z.enum(['header', 'body', 'both']).default('header'),
    })
    .prefault({}),
  offers: offersSchema.default([{}]),
  /** Requests that this hits get these offers instead of `offers`, paid or not. */
  changedOffers: fault({ offers: offersSchema.default([{}]) }),
  /** Advertises `payment-identifier` and answers a known identifier without a second settlement. */
  paymentIdentifier: z.boolean().default(false),
  /** Refuses user agents that name only a library or nothing, as the edge does. */
  blockGenericUserAgents: z.boolean().default(true),
  /** Marks the placeholder logo with the header `x-logo-placeholder: true`. */
  logoPlaceholderHeader: z.boolean().default(true),

  ...searchFaults,
  ...actionFaults,
  ...deliveryFaults,
})

export type Faults = z.infer<typeof faultsSchema>
export type FaultsInput = z.input<typeof faultsSchema>
export type Offer = z.infer<typeof offerSchema>
export type RateLimit = z.infer<typeof rateLimitSchema>

type FaultName = {
  [K in keyof Faults]: Faults[K] extends { next: number; share: number } ? K : never
}[keyof Faults]
export type { FaultName }

/** Every hostile challenge that a spending policy has to refuse, by name. */
export const hostileOffers = {
  doublePrice: [{ amountAtomic: '20000' }],
  otherRecipient: [{ payTo: '0x00000000000000000000000000000000DeaDBeef' }],
  otherAsset: [{ asset: OTHER_TOKEN }],
  otherNetwork: [{ network: 'eip155:84532' }],
  otherScheme: [{ scheme: 'upto' }],
  otherDomainName: [{ domainName: 'USDC' }],
  permit2: [{ assetTransferMethod: 'permit2' }],
  upfrontFlow: [{ paymentFlow: 'upfront' }],
  escrowFlow: [{ paymentFlow: 'escrow' }],
  amountZero: [{ amountAtomic: '0' }],
  amountNegative: [{ amountAtomic: '-10000' }],
  lifetimeOfAYear: [{ maxTimeoutSeconds: 365 * 24 * 3600 }],
  /** The first is within any cap, and the one that a wallet on Base can choose is not. */
  cheapFirstDearSecond: [{ network: 'eip155:84532' }, { amountAtomic: '5000000' }],
} satisfies Record<string, Offer[]>

/** Further defects of an MPP challenge. */
export const hostileMppOffers = {
  otherMethod: [{ method: 'tempo' }],
  otherIntent: [{ intent: 'session' }],
  otherRealm: [{ realm: 'elsewhere.example' }],
  wrongDigest: [{ digest: 'sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' }],
  expired: [{ maxTimeoutSeconds: -1 }],
  aboutToEnd: [{ maxTimeoutSeconds: 5 }],
  cents: [{ decimals: 2 }],
  split: [{ splits: [{ amount: '1', recipient: '0x00000000000000000000000000000000DeaDBeef' }] }],
  headerOfOtherMeaning: [{ header: 'Cookie' }],
} satisfies Record<string, Offer[]>
