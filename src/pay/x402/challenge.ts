import { decodePaymentRequiredHeader } from '@x402/core/http'
import { parsePaymentRequired, type PaymentRequired } from '@x402/core/schemas'
import type { Offer, Receipt, ResponseHead } from '../../domain/payment.ts'
import { isStorable, maxChallengeLength } from '../limits/challenge-limits.ts'
import { settlementOf } from './settlement.ts'

/** The network names of version 1, in the CAIP-2 form that is used everywhere else. */
const networkNames = new Map([
  ['base', 'eip155:8453'],
  ['base-sepolia', 'eip155:84532'],
])

/**
 * Reads the x402 challenge of a 402 in each place where it may occur: version 2 in the `PAYMENT-REQUIRED` header,
 * version 1 in the body, or version 2 terms in the body (the service's description mixes them). A challenge that cannot
 * be read, or is too long to be decoded, yields no offer.
 */
export function readOffers(response: ResponseHead): Offer[] {
  if (response.status !== 402) return []
  const challenge = inHeader(response) ?? inBody(response)
  if (challenge === undefined) return []
  const offers = offersOf(challenge)
  return isStorable(challenge) ? offers : offers.map((offer) => ({ ...offer, isUnstorable: true }))
}

/** Returns what the server states about a payment: the settlement header, or the error of a repeated challenge. */
export function readReceipt(response: ResponseHead): Receipt | undefined {
  const header = response.headers['payment-response'] ?? response.headers['x-payment-response']
  if (header !== undefined) {
    try {
      const { success, transaction, errorReason } = settlementOf(header)
      return {
        success: success === true,
        transaction: transactionHash(transaction),
        reason: word(errorReason),
      }
    } catch {
      return { success: false, transaction: null, reason: 'unreadable_receipt' }
    }
  }
  if (response.status !== 402) return undefined
  const challenge = inHeader(response) ?? inBody(response)
  return { success: false, transaction: null, reason: word(challenge?.error) }
}

function offersOf(challenge: PaymentRequired): Offer[] {
  if (challenge.x402Version === 1) {
    return challenge.accepts.map((accepted) => ({
      ...common(accepted.extra ?? {}),
      version: 1,
      scheme: accepted.scheme,
      network: networkNames.get(accepted.network) ?? accepted.network,
      asset: accepted.asset,
      payTo: accepted.payTo,
      amount: accepted.maxAmountRequired,
      maxTimeoutSeconds: accepted.maxTimeoutSeconds,
      paymentIdentifier: false,
      raw: { x402Version: 1, accepted },
    }))
  }
  const extensions = challenge.extensions ?? {}
  return challenge.accepts.map((accepted) => ({
    ...common(accepted.extra ?? {}),
    version: 2,
    scheme: accepted.scheme,
    network: accepted.network,
    asset: accepted.asset,
    payTo: accepted.payTo,
    amount: accepted.amount,
    maxTimeoutSeconds: accepted.maxTimeoutSeconds,
    paymentIdentifier: 'payment-identifier' in extensions,
    raw: { x402Version: 2, accepted, resource: challenge.resource, extensions },
  }))
}

function common(extra: Record<string, unknown>) {
  return {
    protocol: 'x402' as const,
    domainName: text(extra['name']),
    domainVersion: text(extra['version']),
    transferMethod: text(extra['assetTransferMethod'] ?? 'eip3009'),
    paymentFlow: text(extra['paymentFlow'] ?? 'after'),
  }
}

function inHeader(response: ResponseHead): PaymentRequired | undefined {
  const header = response.headers['payment-required']
  if (header === undefined || header.length > maxChallengeLength) return undefined
  try {
    return parsed(decodePaymentRequiredHeader(header))
  } catch {
    return undefined
  }
}

function inBody(response: ResponseHead): PaymentRequired | undefined {
  if (response.body.length > maxChallengeLength) return undefined
  try {
    return parsed(JSON.parse(response.body))
  } catch {
    return undefined
  }
}

/**
 * The schema checks the shape. The original value is returned, because the proof must repeat the offer with all of its
 * fields.
 */
function parsed(value: unknown): PaymentRequired | undefined {
  return parsePaymentRequired(value).success ? (value as PaymentRequired) : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}

/** Reasons go to the journal and to logs: they hold machine codes only, never free text. */
function word(value: unknown): string | null {
  return typeof value === 'string' && /^[\w .:-]{1,80}$/.test(value) ? value : null
}

function transactionHash(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : null
}
