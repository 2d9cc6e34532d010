import type { Offer, Protocol, ResponseHead } from '../domain/payment.ts'
import { basePolicy } from './limits/spending-policy.ts'

// Replies of a scripted service: honest offers of each protocol, challenges, and answers.

export const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
export const host = 'api.example'

/** An honest offer of each protocol. */
export function offerOf(protocol: Protocol, change: Partial<Offer> = {}): Offer {
  const isCard = protocol === 'mpp_card'
  const isMpp = protocol === 'mpp' || isCard
  return {
    protocol,
    version: 2,
    scheme: { x402: 'exact', mpp: 'evm/charge', mpp_card: 'stripe/charge', api_key: 'direct' }[protocol],
    network: isCard ? 'card' : basePolicy.network,
    asset: isCard ? 'usd' : basePolicy.asset,
    payTo: isCard ? 'profile_1' : payTo,
    amount: isCard ? '1' : '10000',
    maxTimeoutSeconds: isMpp ? 0 : 300,
    domainName: isCard ? '' : 'USD Coin',
    domainVersion: isCard ? '' : '2',
    transferMethod: isCard ? 'card' : 'eip3009',
    paymentFlow: isMpp ? 'unsaid' : 'after',
    ...(isMpp
      ? {
          singleUse: {
            realm: host,
            digest: null,
            expiresAt: Date.UTC(2026, 4, 1) / 1000 + 300,
            header: 'authorization',
          },
        }
      : {}),
    paymentIdentifier: false,
    raw: {},
    ...change,
  }
}

export const challenge = (offer: Offer | Offer[] = offerOf('x402'), refusal?: string): ResponseHead => ({
  status: 402,
  headers: { offers: JSON.stringify([offer].flat()), ...(refusal === undefined ? {} : { receipt: refusal }) },
  body: '{}',
})
export const paid: ResponseHead = { status: 200, headers: { receipt: 'paid' }, body: '{"name":"Acme"}' }
export const answered = (status: number, headers: Record<string, string> = {}): ResponseHead => ({
  status,
  headers,
  body: '{}',
})
