import { authorizationTypes } from '@x402/evm'
import { getAddress, type Address, type Hex } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { ConfigError } from '../../domain/errors.ts'
import type { Authorization, PaymentProtocol, Terms } from '../../domain/payment.ts'
import type { Chain } from '../chain/chain.ts'
import { nonceOf, paymentIdOf } from '../payment-seed.ts'
import { readOffers, readReceipt } from './challenge.ts'

export interface X402Options {
  account: LocalAccount
  chain: Pick<Chain, 'fate'> | undefined
  /** Forces the header that carries the proof. Default: the header that belongs to the challenge's version. */
  proofHeader?: string | undefined
}

/**
 * x402, scheme `exact` by EIP-3009, versions 1 and 2. The stock client draws a random nonce and reads the clock while
 * it signs. Here both come from the journal, so that after a crash the same bytes are sent again and the token contract
 * refuses to move the money twice.
 */
export function createX402(options: X402Options): PaymentProtocol {
  return {
    name: 'x402',
    offers: readOffers,
    receipt: readReceipt,
    draw: (terms, attempt) => draw(terms, attempt, options.account.address),
    async headers(authorization) {
      if (addressOf(authorization.payer) !== addressOf(options.account.address)) {
        throw new ConfigError(
          'wallet_changed',
          `an open payment belongs to wallet ${authorization.payer}, but PAYDIRT_WALLET_KEY is the key of ${options.account.address}. Restore the old key until \`paydirt reconcile\` shows no open payment`,
        )
      }
      const signature = await sign(options.account, authorization)
      const header = options.proofHeader ?? proofHeaderOf(authorization.terms)
      return { [header]: encode(authorization, signature) }
    },
    async fate(authorization) {
      return options.chain ? options.chain.fate(authorization) : { kind: 'unknown' }
    },
  }
}

/** Payments name few addresses: the wallet's, the token's, the service's. */
const addresses = new Map<string, Address>()
const mostAddresses = 32

/** Returns an address with its checksum. Throws for what is no address. */
function addressOf(text: string): Address {
  const known = addresses.get(text)
  if (known !== undefined) return known
  const address = getAddress(text)
  if (addresses.size >= mostAddresses) addresses.clear()
  addresses.set(text, address)
  return address
}

/**
 * Returns the header that belongs to the challenge's version. A signed zero-amount proof has a header of its own
 * (service.md, 5.3).
 */
function proofHeaderOf(terms: Terms): string {
  return terms.version === 1 && terms.amountAtomic > 0n ? 'x-payment' : 'payment-signature'
}

function draw(
  terms: Terms,
  attempt: { seed: string; nowMs: number; lifetimeSeconds: number },
  payer: string,
): Authorization {
  const nonce = nonceOf(attempt.seed)
  const lifetime = Math.min(terms.maxTimeoutSeconds, attempt.lifetimeSeconds)
  return {
    terms,
    payer,
    nonce,
    // Valid from the epoch on: if our clock runs ahead, the authorization must still be valid for the chain.
    validAfter: 0,
    validBefore: Math.floor(attempt.nowMs / 1000) + lifetime,
    paymentId: paymentIdOf(nonce),
  }
}

function sign(
  account: LocalAccount,
  { terms, payer, nonce, validAfter, validBefore }: Authorization,
): Promise<Hex> {
  return account.signTypedData({
    domain: {
      name: terms.domainName,
      version: terms.domainVersion,
      chainId: Number(terms.network.split(':')[1]),
      verifyingContract: addressOf(terms.asset),
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: addressOf(payer),
      to: addressOf(terms.payTo),
      value: terms.amountAtomic,
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
}

function encode(authorization: Authorization, signature: Hex): string {
  const { terms, payer, nonce, validAfter, validBefore, paymentId } = authorization
  const payload = {
    signature,
    authorization: {
      from: addressOf(payer),
      to: addressOf(terms.payTo),
      value: String(terms.amountAtomic),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce,
    },
  }
  const { accepted, resource, extensions } = terms.raw as {
    accepted: { scheme: string; network: string }
    resource?: unknown
    extensions?: Record<string, unknown>
  }
  const envelope =
    terms.version === 1
      ? { x402Version: 1, scheme: accepted.scheme, network: accepted.network, payload }
      : {
          x402Version: 2,
          payload,
          accepted,
          ...(resource === undefined ? {} : { resource }),
          extensions: terms.paymentIdentifier
            ? withPaymentId(extensions ?? {}, paymentId)
            : (extensions ?? {}),
        }
  return Buffer.from(JSON.stringify(envelope)).toString('base64')
}

function withPaymentId(extensions: Record<string, unknown>, id: string): Record<string, unknown> {
  const advertised = extensions['payment-identifier'] as { info?: object } | undefined
  return { ...extensions, 'payment-identifier': { ...advertised, info: { ...advertised?.info, id } } }
}
