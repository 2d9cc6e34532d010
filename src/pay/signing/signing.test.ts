import { authorizationTypes } from '@x402/evm'
import fc from 'fast-check'
import { hashTypedData, recoverAddress, toHex, type Hex, type TypedDataDefinition } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { FatalError } from '../../domain/errors.ts'
import { signingAccount } from './account.ts'
import { createTypedDataHash } from './hash-transfer.ts'
import { openKeccak } from './keccak.ts'
import { signDigest } from './sign-digest.ts'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const seed = testSeed()
const signatures = sized(10_000, 400)
const hashes = sized(10_000, 1_000)

const word = (value: bigint): Hex => toHex(value, { size: 32 })
const anyWord = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes))
/** Words that begin or end with zeros, and those around the order, are as likely as any other. */
const sparseWord = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 32 }), fc.nat(31)).map(([bytes, at]) => {
  const whole = new Uint8Array(32)
  whole.set(bytes.subarray(0, 32 - at), at)
  return toHex(whole)
})
const nearOrder = fc.bigInt({ min: order - 300n, max: order + 300n }).map(word)
const digests = fc.oneof({ weight: 4, arbitrary: anyWord }, sparseWord, nearOrder)
const keys = digests.filter((key) => BigInt(key) > 0n && BigInt(key) < order)

describe('a signature', () => {
  test(`has viem's bytes for ${signatures} keys and digests (seed ${seed})`, async () => {
    const seen = { '1b': 0, '1c': 0, zeros: 0 }
    await fc.assert(
      fc.asyncProperty(keys, digests, async (privateKey, hash) => {
        const signature = await signDigest(hash, privateKey)
        expect(signature).toBe(await sign({ hash, privateKey, to: 'hex' }))
        expect(signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/)
        expect(BigInt(`0x${signature.slice(66, 130)}`)).toBeLessThanOrEqual(order / 2n)
        seen[signature.slice(130) as '1b' | '1c'] += 1
        if (signature.startsWith('0x00') || signature.slice(66, 68) === '00') seen.zeros += 1
      }),
      { numRuns: signatures, seed },
    )
    expect(seen['1b']).toBeGreaterThan(signatures / 4)
    expect(seen['1c']).toBeGreaterThan(signatures / 4)
    expect(seen.zeros).toBeGreaterThan(0)
  })

  test.each([
    ['the lowest key', word(1n)],
    ['the highest key', word(order - 1n)],
    ['a key with leading zeros', word(0xabcdn)],
    ['a key of half the order', word(order / 2n)],
  ])("has viem's bytes of %s, whatever the digest", async (_, privateKey) => {
    for (const digest of [0n, 1n, order - 1n, order, order + 1n, 2n ** 256n - 1n]) {
      const hash = word(digest)
      expect(await signDigest(hash, privateKey)).toBe(await sign({ hash, privateKey, to: 'hex' }))
    }
  })

  // Values that RFC 6979 leads to for secp256k1 and SHA-256, as published with Trezor's and Bitcoin's libraries.
  test.each([
    [
      1n,
      'Satoshi Nakamoto',
      '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8' +
        '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
    ],
    [
      order - 1n,
      'Satoshi Nakamoto',
      'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0' +
        '6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
    ],
  ])('of key %i is the published one for %j', async (key, text, expected) => {
    const hash = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.from(text))))
    expect((await signDigest(hash, word(key))).slice(2, 130)).toBe(expected)
  })

  test.each([
    ['a key of zero', word(7n), word(0n)],
    ['a key of the order', word(7n), word(order)],
    ['a key that is too short', word(7n), '0x0123'],
    ['a digest that is too short', '0x07', word(7n)],
    ['a digest that is too long', `${word(7n)}00`, word(7n)],
  ] as [string, Hex, Hex][])('of %s is refused, and the error tells nothing of it', async (_, hash, key) => {
    const error = await signDigest(hash, key).catch((each: unknown) => each)
    expect(error).toBeInstanceOf(FatalError)
    expect(error).toMatchObject({ code: 'cannot_sign', cause: undefined })
    expect((error as Error).message).not.toMatch(/[0-9a-f]{8}/)
  })

  test('is recovered to the address of its account', async () => {
    const key = word(0x1234567890n)
    const hash = word(99n)
    const account = signingAccount(key)
    expect(account.address).toBe(privateKeyToAccount(key).address)
    expect(await recoverAddress({ hash, signature: await account.sign({ hash }) })).toBe(account.address)
    const typedData = { ...transfer, types: authorizationTypes }
    expect(await account.signTypedData(typedData)).toBe(
      await privateKeyToAccount(key).signTypedData(typedData),
    )
  })
})

const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
} as const
const message = {
  from: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  to: '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0',
  value: 10_000n,
  validAfter: 0n,
  validBefore: 1_777_593_720n,
  nonce: word(5n),
} as const
const transfer = { domain, message, primaryType: 'TransferWithAuthorization' } as const
const typed = (change: object): TypedDataDefinition =>
  ({ ...transfer, types: authorizationTypes, ...change }) as unknown as TypedDataDefinition

describe('the hash of typed data', async () => {
  test.each([
    ['in WebAssembly', await openKeccak()],
    ['before that is loaded', undefined],
  ])(`%s is viem's for ${hashes} transfers (seed ${seed})`, (_, keccak) => {
    const hash = createTypedDataHash(keccak)
    const number = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat().map(BigInt))
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes))
    // Few domains, so that most are hashed from memory, and more than are remembered.
    const domains = fc.record({
      name: fc.oneof(fc.constantFrom('USD Coin', '', 'Ü💶'), fc.string({ unit: 'grapheme', maxLength: 3 })),
      version: fc.constantFrom('2', '1', '', '2\0'),
      chainId: fc.oneof(fc.constantFrom(8453, 84532, 0), fc.maxSafeNat()),
      verifyingContract: fc.oneof(fc.constant(domain.verifyingContract), address),
    })
    const messages = fc.record({
      from: address,
      to: address,
      value: number,
      validAfter: number,
      validBefore: number,
      nonce: digests,
    })
    fc.assert(
      fc.property(domains, messages, (someDomain, someMessage) => {
        const data = typed({ domain: someDomain, message: someMessage })
        expect(hash(data)).toBe(hashTypedData(data))
        expect(hash(data)).toBe(hashTypedData(data))
      }),
      { numRuns: hashes, seed },
    )
  })

  test.each([
    ['of more fields in the domain', { domain: { ...domain, salt: word(3n) } }],
    ['of fewer fields in the domain', { domain: { name: 'USD Coin', chainId: 8453 } }],
    ['of a chain as a big number', { domain: { ...domain, chainId: 8453n } }],
    ['of a nonce in capitals', { message: { ...message, nonce: `0x${'AB'.repeat(32)}` } }],
    ['of a nonce of no hexadecimal digits', { message: { ...message, nonce: `0x${'zz'.repeat(32)}` } }],
    ['of an amount as a number', { message: { ...message, value: 7 } }],
    [
      'of another type by that name',
      {
        types: {
          TransferWithAuthorization: authorizationTypes.TransferWithAuthorization.toReversed(),
        },
      },
    ],
    [
      'of another type',
      {
        types: { Other: [{ name: 'value', type: 'uint256' }] },
        primaryType: 'Other',
      },
    ],
    [
      'of a domain type of its own',
      { types: { ...authorizationTypes, EIP712Domain: [{ name: 'name', type: 'string' }] } },
    ],
  ])("is viem's %s", (_, change) => {
    const data = typed(change)
    expect(createTypedDataHash()(data)).toBe(hashTypedData(data))
  })

  test.each([
    ['an amount below zero', { message: { ...message, value: -1n } }],
    ['an amount above 256 bits', { message: { ...message, value: 2n ** 256n } }],
    ['a nonce that is too short', { message: { ...message, nonce: '0x05' } }],
    ['an address with a wrong checksum', { message: { ...message, to: message.to.replace('A', 'a') } }],
    ['an address that is too short', { message: { ...message, from: '0x12' } }],
    [
      'a token with a wrong checksum',
      { domain: { ...domain, verifyingContract: `${domain.verifyingContract.slice(0, -5)}a0291` } },
    ],
  ])('of %s is refused as by viem', (_, change) => {
    const data = typed(change)
    expect(() => hashTypedData(data)).toThrow(Error)
    expect(() => createTypedDataHash()(data)).toThrow(Error)
  })
})
