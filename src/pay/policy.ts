import { isAddressEqual, isAddress } from 'viem'
import { PolicyDeniedError } from '../domain/errors.ts'
import { formatUsd, type Atomic } from '../domain/money.ts'
import type { Offer, Protocol, Terms } from '../domain/payment.ts'

/** What may be signed. Everything is pinned; a field of an offer that is not looked at here is not signed either. */
export interface SpendingPolicy {
  maxPriceAtomic: Atomic
  /** CAIP-2 id of the only network. */
  network: string
  asset: string
  domainName: string
  domainVersion: string
  /** Longest life that a challenge may ask for. */
  maxTimeoutSeconds: number
  /** Recipients allowed; empty: whoever is pinned for the host. */
  recipients: readonly string[]
  /** Which protocol is taken first where a challenge offers several. */
  order: readonly Protocol[]
}

/** Base, USDC: the service's own words (service.md, 5.3) and the token's EIP-712 domain. */
export const basePolicy = {
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  domainName: 'USD Coin',
  domainVersion: '2',
  maxTimeoutSeconds: 3600,
} as const

export type Verdict = { ok: true; terms: Terms } | { ok: false; rule: string; message: string }

/**
 * Chooses the first offer that passes, in the order of the configured protocols, and answers it as terms: the amount
 * that was checked is the amount that will be signed. Throws PolicyDeniedError when no offer passes.
 */
export function chooseTerms(
  offers: readonly Offer[],
  policy: SpendingPolicy,
  pinned: (protocol: Protocol) => string | undefined,
): Terms {
  const ordered = policy.order.flatMap((protocol) => offers.filter((offer) => offer.protocol === protocol))
  const verdicts = ordered.map((offer) => judge(offer, policy, pinned(offer.protocol)))
  const passed = verdicts.find((verdict) => verdict.ok)
  if (passed?.ok) return passed.terms
  const [first] = verdicts
  throw first && !first.ok
    ? new PolicyDeniedError(first.rule, `the challenge is outside the spending policy: ${first.message}`)
    : new PolicyDeniedError('no_offer', 'the 402 holds no challenge that can be read and paid')
}

/** Judges one offer. Pure; the rule's name is what reports group by. */
export function judge(offer: Offer, policy: SpendingPolicy, pinnedRecipient: string | undefined): Verdict {
  if (offer.scheme !== 'exact') return no('scheme', `scheme ${show(offer.scheme)} instead of exact`)
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
  if (offer.paymentFlow !== 'after')
    return no('payment_flow', `payment flow ${show(offer.paymentFlow)} takes the money before the answer`)
  if (!/^\d{1,30}$/.test(offer.amount))
    return no('amount', `amount ${show(offer.amount)} is not a whole number`)
  const amountAtomic = BigInt(offer.amount)
  if (amountAtomic === 0n) return no('amount', 'amount 0 where a price is expected')
  if (amountAtomic > policy.maxPriceAtomic) {
    return no(
      'price',
      `price ${formatUsd(amountAtomic)} is above the cap of ${formatUsd(policy.maxPriceAtomic)} (PAYDIRT_MAX_PRICE_USD)`,
    )
  }
  if (
    !Number.isInteger(offer.maxTimeoutSeconds) ||
    offer.maxTimeoutSeconds < 1 ||
    offer.maxTimeoutSeconds > policy.maxTimeoutSeconds
  ) {
    return no('lifetime', `a life of ${offer.maxTimeoutSeconds} seconds`)
  }
  if (!isAddress(offer.payTo, { strict: false }))
    return no('recipient', `recipient ${show(offer.payTo)} is no address`)
  const allowed = policy.recipients.length > 0 ? policy.recipients : pinnedRecipient ? [pinnedRecipient] : []
  if (allowed.length > 0 && !allowed.some((recipient) => sameAddress(recipient, offer.payTo))) {
    const source = policy.recipients.length > 0 ? 'PAYDIRT_PAY_TO' : 'the recipient first seen for this host'
    return no('recipient', `recipient ${offer.payTo} is not ${source}`)
  }
  const { amount: _, ...rest } = offer
  return { ok: true, terms: { ...rest, amountAtomic } }
}

function sameAddress(one: string, other: string): boolean {
  return (
    isAddress(one, { strict: false }) && isAddress(other, { strict: false }) && isAddressEqual(one, other)
  )
}

function no(rule: string, message: string): Verdict {
  return { ok: false, rule, message }
}

/** The server's words, bounded and without control characters, so that a report can print them. */
function show(text: string): string {
  return JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60))
}
