import { challengeHash } from 'mppx/evm'
import { charge } from 'mppx/stripe/client'
import { RetriableError } from '../../domain/errors.ts'
import type { Offer, PaymentProtocol } from '../../domain/payment.ts'
import { nonceOf, paymentIdOf } from '../payment-seed.ts'
import { commonOffer, details, readChallenges, word, type PaymentChallenge } from './challenge.ts'
import { readReceipt } from './receipt.ts'
import { challengeOf, checkedChallenge, sameWallet, signed } from './rebuild.ts'

/** The parameters of a one-time token. */
export interface TokenRequest {
  /** In cents. */
  amount: string
  currency: string
  /** The profile that may charge the token. */
  networkId: string
  /** In Unix seconds. */
  expiresAt: number
  paymentMethod: string
  /** The same key must return the same token again: after a crash, the same bytes are sent. */
  idempotencyKey: string
}

export interface MppCardOptions {
  /**
   * The payment method from which tokens are drawn, by its issuer's identifier. The journal stores it, so it must never
   * be a card number.
   */
  paymentMethod: string
  createToken: (request: TokenRequest) => Promise<string>
  repeatsAnswers?: boolean
}

/**
 * MPP, method `stripe`, intent `charge`: a card pays in cents of `usd` with a token for one payment. No one can be
 * asked whether the charge went through, so a charge in doubt stays in doubt, and the lookup is never bought again
 * automatically.
 */
export function createMppCard(options: MppCardOptions): PaymentProtocol {
  const read = (found: PaymentChallenge) => readOffer(found, options)

  return {
    name: 'mpp_card',
    asksForProof: true,
    offers: (response) =>
      readChallenges(response)
        .filter(({ challenge }) => challenge.method === 'stripe')
        .flatMap((found) => read(found) ?? []),
    receipt: (response) => readReceipt(response, 'stripe'),
    draw: (terms, attempt) => ({
      terms,
      payer: options.paymentMethod,
      nonce: challengeHash(challengeOf(terms).challenge),
      validAfter: 0,
      validBefore: terms.singleUse?.expiresAt ?? 0,
      paymentId: paymentIdOf(nonceOf(attempt.seed)),
    }),
    async headers(authorization) {
      sameWallet(authorization, options.paymentMethod)
      const { terms, paymentId, validBefore } = authorization
      const challenge = checkedChallenge(authorization, read, 10_000n)
      const method = charge({
        paymentMethod: options.paymentMethod,
        createToken: ({ amount, currency, networkId }) =>
          token(options, {
            amount,
            currency,
            networkId: networkId ?? '',
            expiresAt: validBefore,
            paymentMethod: options.paymentMethod,
            idempotencyKey: paymentId,
          }),
      })
      const credential = await signed(() =>
        method.createCredential({
          challenge: challenge as Parameters<typeof method.createCredential>[0]['challenge'],
          context: {},
        }),
      )
      return { [terms.singleUse?.header ?? 'authorization']: credential, 'idempotency-key': paymentId }
    },
    fate: async () => ({ kind: 'unknown' }),
  }
}

async function token({ createToken }: MppCardOptions, request: TokenRequest): Promise<string> {
  try {
    return await createToken(request)
  } catch (cause) {
    throw new RetriableError('no_card_token', 'the issuer returned no token for the card', { cause })
  }
}

function readOffer(found: PaymentChallenge, options: MppCardOptions): Offer | undefined {
  try {
    const { request } = found.challenge
    const method = details(found.challenge)
    const decimals = method['decimals']
    return {
      ...commonOffer(found),
      protocol: 'mpp_card',
      network: 'card',
      asset: word(request['currency']),
      payTo: payeeOf(word(method['networkId']), request['recipient']),
      ...(decimals === undefined ? {} : { decimals: Number(decimals) }),
      domainName: '',
      domainVersion: '',
      transferMethod: transferMethod(method),
      paymentIdentifier: options.repeatsAnswers ?? false,
    }
  } catch {
    return undefined
  }
}

/** A profile that charges on behalf of another account is named together with it: `profile/recipient`. */
function payeeOf(networkId: string, recipient: unknown): string {
  return recipient === undefined ? networkId : `${networkId}/${word(recipient)}`
}

/** mppx refuses metadata that would overwrite the id under which the proof is filed. */
function transferMethod(method: Record<string, unknown>): string {
  const types = method['paymentMethodTypes']
  const metadata = method['metadata'] as { externalId?: unknown } | undefined
  if (metadata?.externalId !== undefined) return 'reserved metadata'
  return Array.isArray(types) && types.includes('card') ? 'card' : word(types)
}
