import { createHash } from 'node:crypto'
import { PolicyDeniedError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Offer, Protocol, SingleUse, Terms } from '../../domain/payment.ts'
import type { FactSlot, PriceTable } from '../../domain/planning/step.ts'
import { aboveCapText } from './above-cap.ts'
import { isStorable } from './challenge-limits.ts'

/**
 * Defines what may be signed. Everything is pinned: a field of an offer that is not checked here is not signed either.
 */
export interface SpendingPolicy {
  maxPriceAtomic: Atomic
  /** Caps of single steps, which replace `maxPriceAtomic`. */
  maxPrices?: PriceTable | undefined
  /** The option that has set the cap of a step, where it is none of the usual settings: named in refusals. */
  capNames?: Readonly<Record<string, string>> | undefined
  /**
   * True where an amount of 0 is accepted: units that the service includes before it charges (service.md, 5.6). Default:
   * refused.
   */
  acceptsFree?: boolean
  /** CAIP-2 id of the only network allowed. */
  network: string
  asset: string
  domainName: string
  domainVersion: string
  /** Longest lifetime that a challenge may ask for. */
  maxTimeoutSeconds: number
  /**
   * Longest lifetime of a proof whose expiry the challenge itself names. Default 600: five minutes and some clock skew.
   */
  maxProofSeconds?: number
  /** Allowed recipients. Empty: the recipient that is pinned for the host. */
  recipients: readonly string[]
  /** Realms that a challenge may name. Empty: the host of the request. */
  realms?: readonly string[] | undefined
  /** Profiles that may charge a card. Empty: no card is charged. */
  cardProfiles?: readonly string[]
  /** The order in which protocols are tried when a challenge offers several. */
  order: readonly Protocol[]
}

/** Base and USDC: the service's values (service.md, 5.3) and the token's EIP-712 domain. */
export const basePolicy = {
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  domainName: 'USD Coin',
  domainVersion: '2',
  maxTimeoutSeconds: 3600,
} as const

/** The request to be paid for, as it goes over the wire. */
export interface Asked {
  url: string
  body: string
  nowMs: number
  /**
   * The most that the request may cost: the sum of the caps of the lookups it buys. Default: the policy's cap for one
   * lookup.
   */
  maxPriceAtomic?: Atomic
  /** The step of each lookup that it buys, for the words of a refusal. Default: none is named. */
  steps?: readonly FactSlot[]
  /** The name of the setting that is this cap. */
  capName?: string | undefined
}

export type Verdict = { ok: true; terms: Terms } | Refusal
interface Refusal {
  ok: false
  rule: string
  message: string
  /** The amount that is above the cap. */
  amountAtomic?: Atomic
}

/**
 * Chooses the first offer that passes, in the order of the configured protocols, and returns it as terms: the amount
 * that was checked is the amount that will be signed. Throws PolicyDeniedError when no offer passes.
 */
export function chooseTerms(
  offers: readonly Offer[],
  policy: SpendingPolicy,
  pinned: (protocol: Protocol) => string | undefined,
  asked: Asked,
): Terms {
  const ordered = policy.order.flatMap((protocol) => offers.filter((offer) => offer.protocol === protocol))
  const verdicts = ordered.map((offer) => checkOffer(offer, policy, pinned(offer.protocol), asked))
  const passed = verdicts.find((verdict) => verdict.ok)
  if (passed?.ok) return passed.terms
  const [first] = verdicts
  throw first && !first.ok
    ? new PolicyDeniedError(first.rule, `the challenge is outside the spending policy: ${first.message}`, {
        // An amount of a bigint is no JSON.
        details: { protocol: ordered[0]?.protocol, amountAtomic: first.amountAtomic?.toString() },
      })
    : new PolicyDeniedError('no_offer', 'the 402 holds no challenge that can be read and paid')
}

/** Checks one offer of any protocol. Pure. Reports group refusals by the name of the rule. */
export function checkOffer(
  offer: Offer,
  policy: SpendingPolicy,
  pinnedRecipient: string | undefined,
  asked: Asked,
): Verdict {
  if (offer.isUnstorable || !isStorable(offer)) {
    return no('text', 'it holds U+0000, half of a surrogate pair, or values nested too deeply')
  }
  return checkValues(offer, policy, pinnedRecipient, asked)
}

function checkValues(
  offer: Offer,
  policy: SpendingPolicy,
  pinnedRecipient: string | undefined,
  asked: Asked,
): Verdict {
  const money = moneyOf[offer.protocol]
  if (!money) return no('scheme', `no protocol here pays by ${show(offer.protocol)}`)
  if (offer.scheme !== money.scheme) {
    return no('scheme', `scheme ${show(offer.scheme)} instead of ${money.scheme}`)
  }
  const wrong = money.onChain ? wrongToken(offer, policy) : wrongCard(offer)
  if (wrong) return wrong
  if (offer.paymentFlow !== money.flow) {
    return no('payment_flow', `payment flow ${show(offer.paymentFlow)} takes the money before the answer`)
  }
  if (offer.decimals !== undefined && offer.decimals !== money.decimals) {
    return no('units', `an amount with ${offer.decimals} decimals instead of ${money.decimals}`)
  }
  if (!/^\d{1,30}$/.test(offer.amount))
    return no('amount', `amount ${show(offer.amount)} is not a whole number`)
  const amountAtomic = BigInt(offer.amount) * 10n ** BigInt(atomicDecimals - money.decimals)
  if (amountAtomic === 0n && !policy.acceptsFree) return no('amount', 'amount 0 where a price is expected')
  const cap = asked.maxPriceAtomic ?? policy.maxPriceAtomic
  if (amountAtomic > cap) {
    const prices = { priceAtomic: amountAtomic, capAtomic: cap }
    const message = aboveCapText(asked.steps ?? [], prices, asked.capName)
    return { ok: false, rule: 'price', message, amountAtomic }
  }
  const untimely = money.singleUse
    ? wrongRequest(offer.singleUse, policy, asked)
    : wrongLife(offer.maxTimeoutSeconds, policy)
  if (untimely) return untimely
  const stranger = money.onChain
    ? wrongRecipient(offer.payTo, policy, pinnedRecipient)
    : wrongProfile(offer.payTo, policy)
  if (stranger) return stranger
  const { amount: _, ...rest } = offer
  return { ok: true, terms: { ...rest, amountAtomic } }
}

/**
 * Checks terms that passed before: a setting may have changed since. The recipient is the one that was pinned then. Whether a
 * database can keep their texts is looked for once after each reading: a version before may have admitted others.
 */
export function stillPasses(terms: Terms, policy: SpendingPolicy, asked: Asked): boolean {
  if (!policy.order.includes(terms.protocol) || !canBeKept(terms)) return false
  const { amountAtomic, ...rest } = terms
  const decimals = moneyOf[terms.protocol]?.decimals ?? atomicDecimals
  const amount = String(amountAtomic / 10n ** BigInt(atomicDecimals - decimals))
  return checkValues({ ...rest, amount }, policy, terms.payTo, asked).ok
}

const kept = new WeakSet<Terms>()

function canBeKept(terms: Terms): boolean {
  if (!kept.has(terms) && !isStorable(terms)) return false
  kept.add(terms)
  return true
}

const atomicDecimals = 6

/**
 * The money of each protocol. Its units are fixed here and never taken from the server: 0.01 USD is 1 on a card (cents)
 * and 10000 in USDC.
 */
const moneyOf: Partial<
  Record<Protocol, { scheme: string; flow: string; decimals: number; onChain: boolean; singleUse: boolean }>
> = {
  x402: { scheme: 'exact', flow: 'after', decimals: 6, onChain: true, singleUse: false },
  mpp: { scheme: 'evm/charge', flow: 'unsaid', decimals: 6, onChain: true, singleUse: true },
  mpp_card: { scheme: 'stripe/charge', flow: 'unsaid', decimals: 2, onChain: false, singleUse: true },
}

function wrongToken(offer: Offer, policy: SpendingPolicy): Refusal | undefined {
  if (offer.network !== policy.network)
    return no('network', `network ${show(offer.network)} instead of ${policy.network}`)
  if (!sameAddress(offer.asset, policy.asset))
    return no('asset', `asset ${show(offer.asset)} instead of ${policy.asset}`)
  if (offer.domainName !== policy.domainName || offer.domainVersion !== policy.domainVersion) {
    return no(
      'domain',
      `signing domain ${show(offer.domainName)} ${show(offer.domainVersion)} is not the token's`,
    )
  }
  if (offer.transferMethod !== 'eip3009')
    return no('transfer_method', `transfer by ${show(offer.transferMethod)}`)
  return undefined
}

function wrongCard(offer: Offer): Refusal | undefined {
  if (offer.asset !== 'usd') return no('asset', `currency ${show(offer.asset)} instead of usd`)
  if (offer.transferMethod !== 'card')
    return no('transfer_method', `payment by ${show(offer.transferMethod)}`)
  return undefined
}

function wrongLife(seconds: number, policy: SpendingPolicy): Refusal | undefined {
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= policy.maxTimeoutSeconds
    ? undefined
    : no('lifetime', `a lifetime of ${seconds} seconds`)
}

/** A challenge that expires sooner would be in doubt before its answer arrives. */
const minLifeSeconds = 15

/** A header with another meaning (`cookie`, `host`) must not be set because a server asks for it. */
const proofHeader = /^(authorization|(x-)?payment(-[a-z0-9]+)*)$/

function wrongRequest(
  challenge: SingleUse | undefined,
  policy: SpendingPolicy,
  { url, body, nowMs }: Asked,
): Refusal | undefined {
  if (!challenge) return no('realm', 'the challenge does not name the request that it is for')
  const { realm, digest, expiresAt, header } = challenge
  const { host, hostname } = new URL(url)
  const realms = policy.realms?.length ? policy.realms : [host, hostname]
  if (!realms.some((allowed) => allowed.toLowerCase() === realm.toLowerCase())) {
    return no('realm', `realm ${show(realm)} instead of ${realms.join(' or ')}`)
  }
  if (digest !== null && !isDigestOf(digest, body))
    return no('digest', 'the challenge is for a request with another body')
  if (!proofHeader.test(header)) return no('header', `a proof in the header ${show(header)}`)
  if (expiresAt === null) return no('lifetime', 'a challenge without an expiry')
  const seconds = expiresAt - Math.floor(nowMs / 1000)
  if (!(seconds >= minLifeSeconds)) return no('expired', `a challenge with ${seconds} seconds left`)
  return seconds <= (policy.maxProofSeconds ?? 600)
    ? undefined
    : no('lifetime', `a lifetime of ${seconds} seconds`)
}

/** Accepts the form that libraries write and the form of RFC 9530, which puts the digest between colons. */
function isDigestOf(digest: string, body: string): boolean {
  const sum = createHash('sha256').update(body).digest('base64')
  return digest === `sha-256=${sum}` || digest === `sha-256=:${sum}:`
}

function wrongRecipient(
  payTo: string,
  policy: SpendingPolicy,
  pinnedRecipient: string | undefined,
): Refusal | undefined {
  if (!address.test(payTo)) return no('recipient', `recipient ${show(payTo)} is not an address`)
  const allowed = policy.recipients.length > 0 ? policy.recipients : pinnedRecipient ? [pinnedRecipient] : []
  if (allowed.length > 0 && !allowed.some((recipient) => sameAddress(recipient, payTo))) {
    const source = policy.recipients.length > 0 ? 'PAYDIRT_PAY_TO' : 'the recipient first seen for this host'
    return no('recipient', `recipient ${payTo} is not ${source}`)
  }
  return undefined
}

/**
 * A card is charged only by a profile that is named in `cardProfiles`. There is no pinning on first sight for cards: an
 * unnamed profile is always refused.
 */
function wrongProfile(payTo: string, policy: SpendingPolicy): Refusal | undefined {
  return policy.cardProfiles?.includes(payTo)
    ? undefined
    : no('recipient', `profile ${show(payTo)} may not charge a card`)
}

/** With or without a checksum: that of what is signed is checked where it is signed. */
const address = /^0x[\da-fA-F]{40}$/

function sameAddress(one: string, other: string): boolean {
  return address.test(one) && address.test(other) && one.toLowerCase() === other.toLowerCase()
}

function no(rule: string, message: string): Refusal {
  return { ok: false, rule, message }
}

/** Returns the server's text, bounded and without control characters, so that a report can print it. */
function show(text: string): string {
  return JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60))
}
