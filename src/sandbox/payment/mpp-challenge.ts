import { BodyDigest, Challenge } from 'mppx'
import type { Faults, Offer } from '../faults/faults.ts'
import { PRICE_ATOMIC } from './offers.ts'

const LIFE_SECONDS = 300

/**
 * Signs challenges, so that the server recognises its own. It is the same in every process, because it protects
 * nothing.
 */
export const SECRET = 'the sandbox of paydirt signs its challenges with this'

/**
 * Changes an official challenge to one offer and to the fault switch, and signs it again as the official server does.
 * An offer that the official server would never make is only shown: the server refuses to settle for it.
 */
export function mppChallenge(
  official: Challenge.Challenge,
  offer: Offer,
  { mpp, body }: { mpp: Faults['mpp']; body: string },
): Challenge.Challenge {
  const request = official.request as { methodDetails: object }
  const { domainName, domainVersion, assetTransferMethod, paymentFlow } = offer
  const methodDetails = {
    ...request.methodDetails,
    ...(offer.network !== undefined && { chainId: Number(offer.network.replace('eip155:', '')) }),
    ...(assetTransferMethod !== undefined && { credentialTypes: [assetTransferMethod] }),
    ...(offer.decimals !== undefined && { decimals: offer.decimals }),
    ...(offer.splits !== undefined && { splits: offer.splits }),
    ...(paymentFlow !== undefined && { paymentFlow }),
    ...((domainName !== undefined || domainVersion !== undefined) && {
      authorization: { name: domainName, version: domainVersion },
    }),
  }
  const header = offer.header ?? mpp.header
  const digest = offer.digest ?? (mpp.digest ? BodyDigest.compute(body) : undefined)
  return Challenge.from({
    secretKey: SECRET,
    realm: offer.realm ?? official.realm,
    method: offer.method ?? official.method,
    intent: offer.intent ?? offer.scheme ?? official.intent,
    request: {
      ...request,
      amount: offer.amountAtomic ?? PRICE_ATOMIC,
      ...(offer.asset !== undefined && { currency: offer.asset }),
      ...(offer.payTo !== undefined && { recipient: offer.payTo }),
      methodDetails,
    },
    expires: new Date(Date.now() + (offer.maxTimeoutSeconds ?? LIFE_SECONDS) * 1000).toISOString(),
    ...(digest !== undefined && { digest }),
    ...(header !== null && { header }),
  })
}

/** Returns a challenge of one cent for a card. */
export function cardChallenge(realm: string): Challenge.Challenge {
  return Challenge.from({
    secretKey: SECRET,
    realm,
    method: 'stripe',
    intent: 'charge',
    request: {
      amount: '1',
      currency: 'usd',
      methodDetails: { networkId: 'profile_sandbox', paymentMethodTypes: ['card'] },
    },
    expires: new Date(Date.now() + LIFE_SECONDS * 1000).toISOString(),
  })
}
