import { challengeHash } from 'mppx/evm'
import { charge } from 'mppx/evm/client'
import { isAddress } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import type { Authorization, Offer, PaymentProtocol, Terms } from '../../domain/payment.ts'
import type { Chain } from '../chain/chain.ts'
import { nonceOf, paymentIdOf } from '../payment-seed.ts'
import { commonOffer, details, readChallenges, word, type PaymentChallenge } from './challenge.ts'
import { readReceipt } from './receipt.ts'
import { challengeOf, checkedChallenge, sameWallet, signed } from './rebuild.ts'

export interface MppOptions {
  account: LocalAccount
  chain: Pick<Chain, 'fate'> | undefined
  /** EIP-712 domain of the token. MPP challenges do not name it, so it comes from the spending policy. */
  domain: { domainName: string; domainVersion: string }
  /**
   * True where the server stores answers by `Idempotency-Key` and repeats them. Challenges do not say so, so it is a
   * setting. The header is sent in any case.
   */
  repeatsAnswers?: boolean
}

/**
 * MPP, method `evm`, intent `charge`: USDC by EIP-3009. The proof is built by one call of mppx's own method, which
 * sends nothing and reads no clock and no randomness: the nonce is a hash of the challenge, and its expiry is the
 * challenge's expiry. So the journaled challenge gives the same bytes again, and the token contract refuses to move the
 * money twice.
 */
export function createMpp(options: MppOptions): PaymentProtocol {
  const { account, domain } = options
  const read = (found: PaymentChallenge) => readOffer(found, options)

  return {
    name: 'mpp',
    // Cards are a protocol of their own. Every other method goes to the spending policy, which refuses it by name.
    offers: (response) =>
      readChallenges(response)
        .filter(({ challenge }) => challenge.method !== 'stripe')
        .flatMap((found) => read(found) ?? []),
    receipt: (response) => readReceipt(response, 'evm'),
    draw: (terms, attempt) => draw(terms, attempt, account.address),
    async headers(authorization) {
      sameWallet(authorization, account.address)
      const { terms, paymentId } = authorization
      const challenge = checkedChallenge(authorization, read, 1n)
      const method = charge({
        account,
        authorization: { name: domain.domainName, version: domain.domainVersion },
        networks: [Number(terms.network.split(':')[1])],
        maxAtomicAmount: String(terms.amountAtomic),
      })
      const credential = await signed(() =>
        method.createCredential({
          challenge: challenge as Parameters<typeof method.createCredential>[0]['challenge'],
          context: {},
        }),
      )
      return { [terms.singleUse?.header ?? 'authorization']: credential, 'idempotency-key': paymentId }
    },
    async fate(authorization) {
      return options.chain ? options.chain.fate(authorization) : { kind: 'unknown' }
    },
  }
}

function draw(terms: Terms, attempt: { seed: string }, payer: string): Authorization {
  return {
    terms,
    payer,
    nonce: challengeHash(challengeOf(terms).challenge),
    validAfter: 0,
    // The policy refuses a challenge without an expiry.
    validBefore: terms.singleUse?.expiresAt ?? 0,
    paymentId: paymentIdOf(nonceOf(attempt.seed)),
  }
}

function readOffer(found: PaymentChallenge, options: MppOptions): Offer | undefined {
  try {
    const { request } = found.challenge
    const method = details(found.challenge)
    const domain = method['authorization'] as { name?: unknown; version?: unknown } | undefined
    const decimals = method['decimals']
    return {
      ...commonOffer(found),
      protocol: 'mpp',
      network: chainOf(method['chainId']),
      asset: checked(word(request['currency'])),
      payTo: word(request['recipient']),
      ...(decimals === undefined ? {} : { decimals: Number(decimals) }),
      domainName: word(domain?.name ?? options.domain.domainName),
      domainVersion: word(domain?.version ?? options.domain.domainVersion),
      transferMethod: transferMethod(method),
      paymentIdentifier: options.repeatsAnswers ?? false,
    }
  } catch {
    return undefined
  }
}

function chainOf(id: unknown): string {
  return typeof id === 'number' ? `eip155:${id}` : word(id)
}

/** An address in mixed case with a wrong checksum cannot be signed for. */
function checked(address: string): string {
  return isAddress(address) ? address : `<${address}>`
}

/**
 * mppx signs EIP-3009 transfers and names them `authorization`. A payment that is split between recipients is not such
 * a transfer.
 */
function transferMethod(method: Record<string, unknown>): string {
  const types = method['credentialTypes']
  const splits = method['splits']
  if (splits !== undefined && !(Array.isArray(splits) && splits.length === 0)) return 'splits'
  return Array.isArray(types) && types.includes('authorization') ? 'eip3009' : word(types)
}
