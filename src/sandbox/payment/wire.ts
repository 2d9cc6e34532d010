import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from '@x402/core/http'
import type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse } from '@x402/core/types'
import type { Faults } from '../faults/faults.ts'
import type { ExactPayload } from './facilitator.ts'
import { NETWORK } from './facilitator.ts'

// The official server speaks v2 in headers. This file converts challenges, proofs and results to their other forms and
// back. Nothing is verified here.

const NETWORK_V1 = 'base'

export interface Headers {
  [name: string]: string
}

/** A received proof, in the form that the official server reads. */
export interface Proof {
  version: 1 | 2
  payload: PaymentPayload
}

/** Returns the proof of a request from any of its places, or null if there is none that can be read. */
export function readProof(
  header: (name: string) => string | undefined,
  requirements: PaymentRequirements[],
): Proof | null {
  const raw = header('payment-signature') ?? header('x-payment')
  if (raw === undefined) return null
  const decoded = decodeProof(raw)
  if (decoded === null) return null
  if (decoded['x402Version'] === 2) return { version: 2, payload: decoded as unknown as PaymentPayload }
  if (decoded['x402Version'] !== 1) return null
  return fromVersion1(decoded as unknown as PaymentPayloadV1, requirements)
}

interface PaymentPayloadV1 {
  scheme: string
  network: string
  payload: Record<string, unknown>
}

function decodeProof(raw: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(raw, 'base64').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

// A v1 proof does not name the offer that it accepts, so the offer is found by amount and recipient.
function fromVersion1(proof: PaymentPayloadV1, requirements: PaymentRequirements[]): Proof | null {
  const network = proof.network === NETWORK_V1 ? NETWORK : proof.network
  const { authorization } = proof.payload as Partial<ExactPayload>
  const candidates = requirements.filter((each) => each.scheme === proof.scheme && each.network === network)
  const accepted =
    candidates.find(
      (each) =>
        each.amount === authorization?.value && each.payTo.toLowerCase() === authorization.to?.toLowerCase(),
    ) ?? candidates[0]
  if (accepted === undefined) return null
  return { version: 1, payload: { x402Version: 2, accepted, payload: proof.payload } as PaymentPayload }
}

/**
 * Returns the official 402 in the form that the fault switch asks for. `extra` are offers that the official server
 * would not make.
 */
export function writeChallenge(
  official: Headers,
  wire: (official: PaymentRequirements[]) => PaymentRequirements[],
  { version, place }: Faults['challenge'],
): { headers: Headers; body: unknown } {
  const header = Object.entries(official).find(([name]) => name.toLowerCase() === 'payment-required')?.[1]
  if (header === undefined) throw new Error('the official server answered 402 without a challenge')
  const challenge = decodePaymentRequiredHeader(header)
  const terms = { ...challenge, accepts: wire(challenge.accepts) }

  if (version === 1) return { headers: { 'cache-control': 'no-store' }, body: toVersion1(terms) }
  const headers: Headers = { 'cache-control': 'no-store' }
  if (place !== 'body') headers['PAYMENT-REQUIRED'] = encodePaymentRequiredHeader(terms)
  return { headers, body: place === 'header' ? {} : terms }
}

function toVersion1({ accepts, resource, error }: PaymentRequired) {
  return {
    x402Version: 1,
    error: error ?? '',
    accepts: accepts.map(({ amount, network, ...terms }) => ({
      ...terms,
      network: network === NETWORK ? NETWORK_V1 : network,
      maxAmountRequired: amount,
      resource: resource?.url ?? '',
      description: resource?.description ?? '',
      mimeType: resource?.mimeType ?? '',
      outputSchema: {},
    })),
  }
}

/** Returns the header with the result of a settlement, in the version of the proof. */
export function writeResult(official: Headers, version: 1 | 2): Headers {
  if (version === 2) return official
  const entry = Object.entries(official).find(([name]) => name.toLowerCase() === 'payment-response')
  if (entry === undefined) return {}
  const result: SettleResponse = decodePaymentResponseHeader(entry[1])
  return { 'X-PAYMENT-RESPONSE': encodePaymentResponseHeader({ ...result, network: NETWORK_V1 as never }) }
}
