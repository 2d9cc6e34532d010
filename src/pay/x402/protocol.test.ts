import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { authorizationTypes } from '@x402/evm'
import { keccak256, toBytes, verifyTypedData, type Address, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../domain/errors.ts'
import type { Fate, Terms } from '../../domain/payment.ts'
import { basePolicy } from '../limits/spending-policy.ts'
import { createX402 } from './protocol.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const payTo = '0x5a4db0e5a4db0e5a4db0e5a4db0e5a4db0e5a4d0'
const accepted = { scheme: 'exact', network: 'eip155:8453', amount: '10000', extra: { a: 1 } }
const resource = { url: 'https://api.example/companies' }
const extensions = { 'payment-identifier': { info: { required: false }, schema: {} }, other: { b: 2 } }
const terms: Terms = {
  protocol: 'x402',
  version: 2,
  scheme: 'exact',
  network: 'eip155:8453',
  asset: basePolicy.asset.toLowerCase(),
  payTo,
  amountAtomic: 10_000n,
  maxTimeoutSeconds: 300,
  domainName: 'USD Coin',
  domainVersion: '2',
  transferMethod: 'eip3009',
  paymentFlow: 'after',
  paymentIdentifier: false,
  raw: { accepted, resource, extensions },
}
const attempt = { seed: 'ledger|key|1', nowMs: 1_777_593_600_999, lifetimeSeconds: 120 }
interface Proof {
  payload: { signature: Hex; authorization: { from: Address; to: Address; value: string; nonce: Hex } }
  extensions?: unknown
}
const open = (change: object = {}) => createX402({ account, chain: undefined, ...change })

async function proofOf(change: Partial<Terms> = {}, options: object = {}) {
  const protocol = open(options)
  const authorization = protocol.draw({ ...terms, ...change }, attempt)
  const [[header, value] = []] = Object.entries(await protocol.headers(authorization))
  const decoded = decodePaymentSignatureHeader(value!)
  // The header is the official encoder's, to the byte.
  expect(value).toBe(encodePaymentSignatureHeader(decoded))
  return { header, authorization, proof: decoded as unknown as Proof }
}

describe('an authorization', () => {
  test('is drawn from the attempt alone', () => {
    const drawn = open().draw(terms, attempt)
    expect(drawn).toEqual({
      terms,
      payer: account.address,
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      validAfter: 0,
      validBefore: 1_777_593_600 + 120,
      paymentId: `pd_${drawn.nonce.slice(2, 42)}`,
    })
    // A ledger derives its nonces again after an upgrade, and after a restore.
    expect(drawn.nonce).toBe(keccak256(toBytes('paydirt:ledger|key|1')))
    expect(open().draw(terms, { ...attempt }).nonce).toBe(drawn.nonce)
    expect(open().draw(terms, { ...attempt, seed: 'ledger|key|2' }).nonce).not.toBe(drawn.nonce)
  })

  test.each([
    [300, 120, 120],
    [60, 120, 60],
  ])(
    'lives no longer than challenge (%i s) and settings (%i s) allow',
    (maxTimeoutSeconds, lifetimeSeconds, lives) => {
      const drawn = open().draw({ ...terms, maxTimeoutSeconds }, { ...attempt, lifetimeSeconds })
      expect(drawn.validBefore).toBe(1_777_593_600 + lives)
    },
  )
})

describe('the proof', () => {
  test('is signed by the wallet under the domain of the token', async () => {
    const { proof, authorization } = await proofOf()
    const { signature, authorization: message } = proof.payload
    expect(message).toEqual({
      from: account.address,
      to: '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0',
      value: '10000',
      validAfter: '0',
      validBefore: String(authorization.validBefore),
      nonce: authorization.nonce,
    })
    const isSigned = await verifyTypedData({
      address: account.address,
      domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: basePolicy.asset },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: { ...message, value: 10_000n, validAfter: 0n, validBefore: BigInt(authorization.validBefore) },
      signature,
    })
    expect(isSigned).toBe(true)
  })

  test('of version 2 repeats what was accepted, with resource and extensions', async () => {
    const { header, proof } = await proofOf()
    expect(header).toBe('payment-signature')
    expect(proof).toEqual({ x402Version: 2, payload: proof.payload, accepted, resource, extensions })
    const bare = await proofOf({ raw: { accepted } })
    expect(bare.proof).toEqual({ x402Version: 2, payload: bare.proof.payload, accepted, extensions: {} })
  })

  test('names the payment where the server keeps answers by it', async () => {
    const { proof, authorization } = await proofOf({ paymentIdentifier: true })
    expect(proof.extensions).toEqual({
      'payment-identifier': { info: { required: false, id: authorization.paymentId }, schema: {} },
      other: { b: 2 },
    })
    const bare = await proofOf({ paymentIdentifier: true, raw: { accepted } })
    expect(bare.proof.extensions).toEqual({
      'payment-identifier': { info: { id: authorization.paymentId } },
    })
  })

  test('of version 1 names scheme and network as the challenge does', async () => {
    const { header, proof } = await proofOf({
      version: 1,
      raw: { accepted: { scheme: 'exact', network: 'base' } },
    })
    expect(header).toBe('x-payment')
    expect(proof).toEqual({ x402Version: 1, scheme: 'exact', network: 'base', payload: proof.payload })
  })

  test('of a challenge with signs of all kinds is encoded as the official client does', async () => {
    for (const text of ['Ünïcödé', '💶 €', '\ud800', '\u0000', '~?>'])
      expect((await proofOf({ raw: { accepted, resource: { url: text } } })).proof).toMatchObject({
        resource: { url: text },
      })
  })

  test.each([
    ['version 1 for nothing', { version: 1, amountAtomic: 0n }, {}, 'payment-signature'],
    ['version 1 where the header is set', { version: 1 }, { proofHeader: 'x-proof' }, 'x-proof'],
    ['version 2 where the header is set', { version: 2 }, { proofHeader: 'x-proof' }, 'x-proof'],
  ])('of %s goes into its header', async (_, change, options, expected) => {
    expect((await proofOf({ raw: { accepted }, ...change }, options)).header).toBe(expected)
  })

  test('is not built for the charge of another wallet', async () => {
    const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
    const authorization = createX402({ account: other, chain: undefined }).draw(terms, attempt)
    await expect(open().headers(authorization)).rejects.toThrow(ConfigError)
    await expect(open().headers(authorization)).rejects.toMatchObject({
      code: 'wallet_changed',
      message: expect.stringContaining(other.address),
    })
    const lower = { ...open().draw(terms, attempt), payer: account.address.toLowerCase() }
    await expect(open().headers(lower)).resolves.toBeDefined()
  })
})

test('the chain says what became of it, and without a chain nothing is known', async () => {
  const authorization = open().draw(terms, attempt)
  expect(await open().fate(authorization)).toEqual({ kind: 'unknown' })
  const asked: unknown[] = []
  const fate: Fate = { kind: 'used', transaction: null }
  const chain = { fate: async (each: unknown) => (asked.push(each), fate) }
  expect(await open({ chain }).fate(authorization)).toBe(fate)
  expect(asked).toEqual([authorization])
  expect(open().name).toBe('x402')
})
