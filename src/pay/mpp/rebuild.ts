import type { Challenge } from 'mppx'
import { ConfigError, FatalError, PaydirtError } from '../../domain/errors.ts'
import type { Authorization, Offer, Terms } from '../../domain/payment.ts'
import { formatUsd } from '../../domain/money.ts'
import { parseChallenge, type PaymentChallenge } from './challenge.ts'

/** Returns the challenge that was journaled with these terms. */
export function challengeOf(terms: Terms): PaymentChallenge {
  const text = terms.raw['challenge']
  const challenge = typeof text === 'string' ? parseChallenge(text) : undefined
  if (!challenge) throw new FatalError('bad_journal', 'the journaled challenge can no longer be read')
  return { text: text as string, challenge }
}

/**
 * Reads the journaled challenge again and compares it with the terms that the policy admitted, so that exactly the
 * checked challenge is signed even if the journal was changed in between.
 */
export function checkedChallenge(
  authorization: Authorization,
  read: (challenge: PaymentChallenge) => Offer | undefined,
  atomicPerUnit: bigint,
): Challenge.Challenge {
  const { terms } = authorization
  const found = challengeOf(terms)
  const offer = read(found)
  const same =
    offer !== undefined &&
    BigInt(offer.amount) * atomicPerUnit === terms.amountAtomic &&
    (['scheme', 'network', 'asset', 'payTo', 'transferMethod'] as const).every(
      (name) => offer[name] === terms[name],
    ) &&
    offer.singleUse?.header === terms.singleUse?.header &&
    offer.singleUse?.expiresAt === authorization.validBefore
  if (!same) {
    throw new FatalError(
      'bad_journal',
      `the journaled challenge is not the one that was checked at ${formatUsd(terms.amountAtomic)}`,
    )
  }
  return found.challenge
}

export function sameWallet(authorization: Authorization, address: string): void {
  if (authorization.payer.toLowerCase() === address.toLowerCase()) return
  throw new ConfigError(
    'wallet_changed',
    `an open payment belongs to ${authorization.payer}, but ${address} is configured now. Restore the old one until \`paydirt reconcile\` shows no open payment`,
  )
}

/** Terms that passed the policy can be signed. If the library still refuses, the lookup fails and nothing was sent. */
export async function signed(sign: () => Promise<string>): Promise<string> {
  try {
    return await sign()
  } catch (cause) {
    if (cause instanceof PaydirtError) throw cause
    throw new FatalError('cannot_sign', 'no proof could be built for the challenge', { cause })
  }
}
