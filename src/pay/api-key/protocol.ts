import { creditsFromUsd } from '../../domain/credits.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Authorization, PaymentProtocol, ResponseHead, Terms } from '../../domain/payment.ts'
import { nonceOf, paymentIdOf } from '../payment-seed.ts'

export interface ApiKeyOptions {
  apiKey: string
  /**
   * Name of the header that carries the key. The service does not document it (service.md, 5.7), so it is a setting.
   */
  header: string
}

/**
 * Direct access: the key names the workspace, and the service deducts credits from it. There is no challenge to check.
 * No one can be asked whether a request was charged, so a request without an answer stays in doubt and is not sent
 * again (fails closed).
 */
export function createApiKey({ apiKey, header }: ApiKeyOptions): PaymentProtocol {
  return {
    name: 'api_key',
    offers: () => [],
    draw,
    headers: async () => ({ [header]: apiKey }),
    receipt: (response) =>
      response.status >= 200 && response.status <= 299
        ? { success: true, transaction: null, reason: null }
        : undefined,
    isUncharged,
    fate: async () => ({ kind: 'unknown' }),
  }
}

/**
 * Returns the terms of direct access, which need no challenge: an amount of credits equal to the most that the request
 * may cost in USD.
 */
export function apiKeyTerms(ceilingAtomic: Atomic): Terms {
  return {
    protocol: 'api_key',
    version: 1,
    scheme: 'direct',
    network: '',
    asset: 'credit',
    payTo: '',
    amountAtomic: creditsFromUsd(ceilingAtomic),
    maxTimeoutSeconds: 300,
    domainName: '',
    domainVersion: '',
    transferMethod: '',
    paymentFlow: 'after',
    paymentIdentifier: false,
    raw: {},
  }
}

/**
 * Returns true when the service itself says that it refused the request or failed to perform it: it deducted no credit.
 * Crash window: a gateway that gave up (502, 503, 504, 408, or a 500 that is not in the service's own form) says nothing
 * about the request behind it, which may still be performed and charged. That proves as little as a broken connection, so
 * the charge stays in doubt and is not sent again (docs/decisions/0009-requests-by-api-key.md). After a 408 the payer sends the
 * same charge again (docs/decisions/0027-not-in-time.md).
 */
function isUncharged({ status, body }: ResponseHead): boolean {
  if (status === 500) return isServiceError(body)
  return status >= 400 && status <= 499 && status !== 408
}

/** The service's own 500 is `{error: string}` (service.md, 4.1). */
function isServiceError(body: string): boolean {
  try {
    return typeof (JSON.parse(body) as { error?: unknown } | null)?.error === 'string'
  } catch {
    return false
  }
}

function draw(
  terms: Terms,
  attempt: { seed: string; nowMs: number; lifetimeSeconds: number },
): Authorization {
  const nonce = nonceOf(attempt.seed)
  return {
    terms,
    payer: '',
    nonce,
    validAfter: 0,
    validBefore: Math.floor(attempt.nowMs / 1000) + attempt.lifetimeSeconds,
    paymentId: paymentIdOf(nonce),
  }
}
