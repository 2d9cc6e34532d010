import type { RouteConfig } from '@x402/core/server'
import type { Network, PaymentRequirements } from '@x402/core/types'
import { TOKEN_DOMAIN, USDC } from '../chain/token.ts'
import type { Offer } from '../faults/faults.ts'
import { NETWORK } from './facilitator.ts'

/** 0.010000 USD in the token's six decimals. */
export const PRICE_ATOMIC = '10000'
const MAX_TIMEOUT_SECONDS = 300

type PaymentOption = Extract<RouteConfig['accepts'], unknown[]>[number]

/** Returns whether the official server would make this offer. Other offers are only shown, and cannot be paid. */
function canBeSettled(offer: Offer) {
  return (
    (offer.scheme ?? 'exact') === 'exact' &&
    (offer.network ?? NETWORK) === NETWORK &&
    !(offer.amountAtomic ?? PRICE_ATOMIC).startsWith('-') &&
    ['eip3009', 'permit2'].includes(offer.assetTransferMethod ?? 'eip3009') &&
    ['authorization', 'upfront'].includes(offer.paymentFlow ?? 'authorization')
  )
}

/** Returns the offers as payment options of the official server's route. */
export function paymentOptions(offers: readonly Offer[], payTo: string): PaymentOption[] {
  return offers.filter(canBeSettled).map((offer) => {
    const { amount, asset, network, scheme, ...rest } = requirement(offer, payTo)
    return { scheme, network, price: { amount, asset, extra: {} }, ...rest }
  })
}

/**
 * Returns the offers to send: the official requirements at the positions of their offers, and the rest as configured.
 */
export function wireOffers(offers: readonly Offer[], payTo: string, official: PaymentRequirements[]) {
  const ready = [...official]
  return offers.map((offer) => (canBeSettled(offer) ? ready.shift()! : requirement(offer, payTo)))
}

function requirement(offer: Offer, payTo: string): PaymentRequirements {
  const extra: Record<string, unknown> = {
    name: offer.domainName ?? TOKEN_DOMAIN.name,
    version: offer.domainVersion ?? TOKEN_DOMAIN.version,
  }
  if (offer.assetTransferMethod !== undefined) extra['assetTransferMethod'] = offer.assetTransferMethod
  if (offer.paymentFlow !== undefined) extra['paymentFlow'] = offer.paymentFlow
  return {
    scheme: offer.scheme ?? 'exact',
    network: (offer.network ?? NETWORK) as Network,
    amount: offer.amountAtomic ?? PRICE_ATOMIC,
    asset: offer.asset ?? USDC,
    payTo: offer.payTo ?? payTo,
    maxTimeoutSeconds: offer.maxTimeoutSeconds ?? MAX_TIMEOUT_SECONDS,
    extra,
  }
}
