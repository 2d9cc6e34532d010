import { BodyDigest, Challenge, Credential, Errors, Receipt } from 'mppx'
import { Mppx, evm } from 'mppx/server'
import type { Address } from 'viem'
import { getAddress, isAddress } from 'viem'
import { CHAIN_ID } from '../chain/anvil.ts'
import type { Chain } from '../chain/chain.ts'
import { TOKEN_DOMAIN, USDC } from '../chain/token.ts'
import type { Faults, Offer } from '../faults/faults.ts'
import type { ExactPayload, Facilitator, SettlementOrder } from './facilitator.ts'
import { SECRET, cardChallenge, mppChallenge } from './mpp-challenge.ts'
import type { Entered, PaidRequest, Refusal } from './paywall.ts'
import { usedIn } from './settlement-of.ts'
import type { Headers } from './wire.ts'

interface MppSettings {
  offers: readonly Offer[]
  mpp: Faults['mpp']
}

export interface MppPaywall {
  /** Returns the value of `WWW-Authenticate`: one challenge for each offer. */
  challenges(request: PaidRequest, settings: MppSettings): Promise<string>
  /** Returns the proof of a request, or null if there is none that can be read. */
  credential(request: PaidRequest, settings: MppSettings): Credential.Credential | null
  enter(
    request: PaidRequest,
    credential: Credential.Credential,
    settings: MppSettings,
    order: SettlementOrder,
  ): Promise<Entered | Refusal>
  /** Returns the receipt of a payment that the chain has recorded, or null. */
  settlementOf(credential: Credential.Credential): Promise<Headers | null>
}

/**
 * The official MPP server, method `evm`: it verifies and settles through the official x402 facilitator on the chain.
 */
export function createMppPaywall(facilitator: Facilitator, chain: Chain, payTo: Address): MppPaywall {
  const servers = new Map<string, ReturnType<typeof open>>()

  function serverFor(realm: string, recipient: Address, currency: Address) {
    const key = `${realm} ${recipient} ${currency}`
    const server = servers.get(key) ?? open(facilitator, realm, recipient, currency)
    servers.set(key, server)
    return server
  }

  function realmOf(request: PaidRequest, { mpp }: MppSettings) {
    return mpp.realm ?? new URL(request.url).hostname
  }

  async function challenges(request: PaidRequest, settings: MppSettings) {
    const realm = realmOf(request, settings)
    const official = await serverFor(realm, payTo, USDC).challenge.evm.charge({ amount: '0.01' })
    const all = settings.offers.map((offer) =>
      mppChallenge(official, offer, { mpp: settings.mpp, body: request.body ?? '' }),
    )
    if (settings.mpp.card) all.push(cardChallenge(realm))
    return all.map((challenge) => Challenge.serialize(challenge)).join(', ')
  }

  async function refuse(
    error: Errors.PaymentError,
    request: PaidRequest,
    settings: MppSettings,
    id: string,
  ): Promise<Refusal> {
    return {
      status: error.status,
      headers: {
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        ...(error.status === 402 && { 'www-authenticate': await challenges(request, settings) }),
      },
      body: error.toProblemDetails(id),
    }
  }

  return {
    challenges,

    credential(request, { mpp }) {
      const header = request.header(mpp.header ?? 'authorization')
      const scheme = header === undefined ? null : Credential.extractPaymentScheme(header)
      try {
        return scheme === null ? null : Credential.deserialize(scheme)
      } catch {
        return null
      }
    },

    async enter(request, credential, settings, order) {
      const { challenge } = credential
      const refused = (error: unknown) =>
        refuse(
          error instanceof Errors.PaymentError ? error : new Errors.InternalPaymentError(),
          request,
          settings,
          challenge.id,
        )
      const offer = offerOf(challenge, settings.offers, payTo)
      if (offer === undefined) {
        const reason = 'credential does not match an offer of this route'
        return refused(new Errors.InvalidChallengeError({ id: challenge.id, reason }))
      }
      // The official server binds the digest into the challenge and leaves it to the route to check the body.
      if (challenge.digest !== undefined && !isDigestOf(challenge.digest, request.body)) {
        return refused(new Errors.VerificationFailedError({ reason: 'body_digest_mismatch' }))
      }
      const { amount, recipient, currency } = challenge.request as Record<string, string>
      const server = serverFor(realmOf(request, settings), recipient as Address, currency as Address)
      const route = { request: { amount: usdc(BigInt(amount ?? '')) } }

      async function settle() {
        try {
          const receipt = await facilitator.during(order, () => server.broadcastCredential(credential, route))
          return { headers: receiptHeader(receipt), refusal: null }
        } catch (error) {
          return { headers: {}, refusal: await refused(error) }
        }
      }

      try {
        await server.validateCredential(credential, route)
      } catch (error) {
        return refused(error)
      }
      const upfront = settings.mpp.settleFirst ? await settle() : null
      if (upfront?.refusal) return upfront.refusal
      return {
        settle: async () => upfront ?? settle(),
        isSettled: upfront !== null,
        cancel: async () => {},
      }
    },

    async settlementOf(credential) {
      const { from, nonce } = credential.payload as ExactPayload['authorization']
      const used = await usedIn(chain, { from, nonce })
      if (used === null) return null
      const { transaction: reference, at } = used
      return receiptHeader(
        Receipt.from({ method: 'evm', reference, status: 'success', timestamp: at.toISOString() }),
      )
    },
  }
}

function open(facilitator: Facilitator, realm: string, recipient: Address, currency: Address) {
  return Mppx.create({
    realm,
    secretKey: SECRET,
    methods: [
      evm.charge({
        chainId: CHAIN_ID,
        currency,
        decimals: 6,
        authorization: TOKEN_DOMAIN,
        recipient,
        x402: { facilitator: facilitator as never },
      }),
    ],
  })
}

/** Returns the current offer that a challenge belongs to. */
function offerOf(challenge: Challenge.Challenge, offers: readonly Offer[], payTo: Address) {
  const { amount, recipient, currency } = challenge.request
  if (![recipient, currency].every((each) => typeof each === 'string' && isAddress(each))) return undefined
  return offers.find(
    (offer) =>
      amount === (offer.amountAtomic ?? '10000') &&
      getAddress(recipient as Address) === getAddress((offer.payTo ?? payTo) as Address) &&
      getAddress(currency as Address) === getAddress((offer.asset ?? USDC) as Address),
  )
}

function isDigestOf(digest: string, body: string | null) {
  return BodyDigest.verify(digest as BodyDigest.BodyDigest, body ?? '')
}

function usdc(atomic: bigint) {
  return `${atomic / 1_000_000n}.${String(atomic % 1_000_000n).padStart(6, '0')}`
}

function receiptHeader(receipt: Receipt.Receipt): Headers {
  return { 'payment-receipt': Receipt.serialize(receipt), 'cache-control': 'private' }
}
