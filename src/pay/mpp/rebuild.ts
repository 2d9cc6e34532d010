import type { Challenge } from 'mppx'
import { keccak256, toBytes } from 'viem'
import { ConfigError, FatalError, PaydirtError } from '../../domain/errors.ts'
import type { Authorization, Offer, Terms } from '../../domain/payment.ts'
import { formatUsd } from '../../domain/money.ts'
import { parseChallenge, type PaymentChallenge } from './challenge.ts'

/** Sent as `Idempotency-Key`: the same for every send of one attempt, whatever it is sent with. */
export function paymentIdOf(seed: string): string {
  return `pd_${keccak256(toBytes(`paydirt:${seed}`)).slice(2, 42)}`
}

/** The challenge that was journaled with these terms. */
export function challengeOf(terms: Terms): PaymentChallenge {
  const text = terms.raw['challenge']
  const challenge = typeof text === 'string' ? parseChallenge(text) : undefined
  if (!challenge) throw new FatalError('bad_journal', 'the journaled challenge cannot be read any more')
  return { text: text as string, challenge }
}

/**
 * Reads the journaled challenge once more and holds it against the terms that the policy let through, so that what is
 * signed is what was judged, whatever became of the journal in between.
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
      `the journaled challenge is not the one that was judged at ${formatUsd(terms.amountAtomic)}`,
    )
  }
  return found.challenge
}

export function sameWallet(authorization: Authorization, address: string): void {
  if (authorization.payer.toLowerCase() === address.toLowerCase()) return
  throw new ConfigError(
    'wallet_changed',
    `an open payment was drawn up for ${authorization.payer}, and ${address} is configured now. Put the old one back until \`paydirt reconcile\` shows nothing open`,
  )
}

/** Terms that passed the policy can be signed; where the library still will not, the lookup ends and nothing was sent. */
export async function signed(sign: () => Promise<string>): Promise<string> {
  try {
    return await sign()
  } catch (cause) {
    if (cause instanceof PaydirtError) throw cause
    throw new FatalError('cannot_sign', 'no proof could be built for the challenge', { cause })
  }
}
