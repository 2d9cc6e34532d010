import { PaymentInDoubtError } from '../domain/errors.ts'
import type { Terms } from '../domain/payment.ts'

/**
 * Fails closed: the lookup is neither bought again nor given up until a person has checked the provider's statement.
 */
export function unknowable(): PaymentInDoubtError {
  return inDoubt(
    'paid by a method that cannot confirm whether it was charged; a person must decide',
    86_400_000,
  )
}

/** Without `askAgainInMs`, the lookup is retried at the interval of any failed request. */
export function inDoubt(reason: string, askAgainInMs?: number): PaymentInDoubtError {
  return new PaymentInDoubtError('in_doubt', reason, { details: { askAgainInMs } })
}

/** Returns true where the chain can be asked what became of a payment. */
export function movesOnChain({ protocol }: Terms): boolean {
  return protocol === 'x402' || protocol === 'mpp'
}
