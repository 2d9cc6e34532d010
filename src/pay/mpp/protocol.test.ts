import { Challenge, Credential } from 'mppx'
import { challengeHash } from 'mppx/evm'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { ConfigError, FatalError } from '../../domain/errors.ts'
import type { Fate, Offer, Terms } from '../../domain/payment.ts'
import { basePolicy } from '../limits/spending-policy.ts'
import { createMpp } from './protocol.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
const expiresAt = Date.UTC(2026, 4, 1, 0, 5) / 1000
const methodDetails = { chainId: 8453, credentialTypes: ['authorization'], decimals: 6 }
const request = { amount: '10000', currency: basePolicy.asset, recipient: payTo, methodDetails }

const challengeText = (change: object = {}, outer: object = {}) =>
  Challenge.serialize(
    Challenge.from({
      id: 'one',
      realm: 'api.example',
      method: 'evm',
      intent: 'charge',
      expires: '2026-05-01T00:05:00Z',
      request: { ...request, ...change },
      ...outer,
    } as never),
  )
const open = (change: object = {}) => createMpp({ account, chain: undefined, domain: basePolicy, ...change })
const offersOf = (text: string, options: object = {}) =>
  open(options).offers({ status: 402, headers: { 'www-authenticate': text }, body: '' })

const offer: Offer = {
  protocol: 'mpp',
  version: 1,
  scheme: 'evm/charge',
  network: 'eip155:8453',
  asset: basePolicy.asset,
  payTo,
  amount: '10000',
  decimals: 6,
  maxTimeoutSeconds: 0,
  domainName: 'USD Coin',
  domainVersion: '2',
  transferMethod: 'eip3009',
  paymentFlow: 'unsaid',
  singleUse: { realm: 'api.example', digest: null, expiresAt, header: 'authorization' },
  paymentIdentifier: false,
  raw: { challenge: challengeText() },
}

describe('an offer', () => {
  test('is read from the challenge', () => {
    expect(offersOf(challengeText())).toEqual([offer])
  })

  test.each([
    [
      'a chain that is no number',
      { methodDetails: { ...methodDetails, chainId: '8453' } },
      { network: '8453' },
    ],
    ['no chain', { methodDetails: { credentialTypes: ['authorization'] } }, { network: '' }],
    [
      'a currency whose checksum is wrong',
      { currency: basePolicy.asset.replace('d', 'D') },
      { asset: `<${basePolicy.asset.replace('d', 'D')}>` },
    ],
    [
      'a signing domain of its own',
      { methodDetails: { ...methodDetails, authorization: { name: 'Other', version: '9' } } },
      { domainName: 'Other', domainVersion: '9' },
    ],
    [
      'a split between recipients',
      { methodDetails: { ...methodDetails, splits: [1] } },
      { transferMethod: 'splits' },
    ],
    [
      'a split that is no list',
      { methodDetails: { ...methodDetails, splits: 'x' } },
      { transferMethod: 'splits' },
    ],
    ['an empty split', { methodDetails: { ...methodDetails, splits: [] } }, { transferMethod: 'eip3009' }],
    [
      'another transfer',
      { methodDetails: { ...methodDetails, credentialTypes: ['permit2'] } },
      { transferMethod: '<["permit2"]>' },
    ],
    [
      'a transfer that is no list',
      { methodDetails: { ...methodDetails, credentialTypes: 'authorization' } },
      { transferMethod: 'authorization' },
    ],
    [
      'a flow in its details',
      { methodDetails: { ...methodDetails, paymentFlow: 'upfront' } },
      { paymentFlow: 'upfront' },
    ],
    ['a flow in its request', { paymentFlow: 'escrow' }, { paymentFlow: 'escrow' }],
    ['an amount that is a number', { amount: 10_000 }, { amount: '<10000>' }],
    ['no amount', { amount: undefined }, { amount: '' }],
    ['an amount of a thousand digits', { amount: '9'.repeat(1000) }, { amount: '9'.repeat(200) }],
    ['details that are no object', { methodDetails: 'x' }, { network: '', transferMethod: '' }],
    ['details that are null', { methodDetails: null }, { network: '', transferMethod: '' }],
  ] as [string, object, Partial<Offer>][])('names %s', (_, change, expected) => {
    expect(offersOf(challengeText(change))).toMatchObject([expected])
  })

  test('says nothing of decimals where the challenge does not', () => {
    const [found] = offersOf(challengeText({ methodDetails: { chainId: 8453 } }))
    expect(found).toMatchObject({ network: 'eip155:8453' })
    expect(found?.decimals).toBeUndefined()
  })

  test('of a card is not ours, and that of another method is left to the policy', () => {
    expect(offersOf(challengeText({}, { method: 'stripe' }))).toEqual([])
    expect(offersOf(challengeText({}, { method: 'tempo', intent: 'session' }))).toMatchObject([
      { protocol: 'mpp', scheme: 'tempo/session' },
    ])
  })

  test('says that answers are repeated where that is set', () => {
    expect(offersOf(challengeText(), { repeatsAnswers: true })).toMatchObject([{ paymentIdentifier: true }])
  })
})

const termsOf = ({ amount, ...rest }: Offer): Terms => ({ ...rest, amountAtomic: BigInt(amount) })
const attempt = { seed: 'ledger|key|1', nowMs: 0, lifetimeSeconds: 1 }

describe('an authorization', () => {
  test('has its nonce and its end from the challenge', () => {
    const drawn = open().draw(termsOf(offer), attempt)
    expect(drawn).toEqual({
      terms: termsOf(offer),
      payer: account.address,
      nonce: challengeHash(Challenge.deserialize(challengeText())),
      validAfter: 0,
      validBefore: expiresAt,
      paymentId: expect.stringMatching(/^pd_[0-9a-f]{40}$/),
    })
    expect(open().draw(termsOf(offer), { ...attempt, seed: 'other' }).paymentId).not.toBe(drawn.paymentId)
  })

  test.each([
    ['no challenge', {}],
    ['a challenge that is no text', { challenge: 7 }],
    ['a challenge that cannot be read', { challenge: 'Payment id="x"' }],
  ])('cannot be drawn from a journal with %s', (_, raw) => {
    const draw = () => open().draw({ ...termsOf(offer), raw }, attempt)
    expect(draw).toThrow(FatalError)
  })

  test('without an end is dead from the start', () => {
    const { singleUse: _, ...endless } = termsOf(offer)
    expect(open().draw(endless, attempt).validBefore).toBe(0)
  })
})

describe('the proof', () => {
  const headersOf = (change: Partial<Terms> = {}, options: object = {}) => {
    const protocol = open(options)
    const drawn = protocol.draw(termsOf(offer), attempt)
    return protocol.headers({ ...drawn, terms: { ...drawn.terms, ...change } })
  }

  test('pays the recipient what was judged, until the challenge ends, and names the payment', async () => {
    const { authorization, 'idempotency-key': paymentId } = await headersOf()
    expect(paymentId).toBe(open().draw(termsOf(offer), attempt).paymentId)
    const credential = Credential.deserialize(authorization!)
    expect(credential.challenge).toMatchObject({ id: 'one', realm: 'api.example', method: 'evm' })
    expect(credential.payload).toMatchObject({
      from: account.address,
      to: payTo,
      value: '10000',
      validAfter: '0',
      validBefore: String(expiresAt),
      nonce: challengeHash(Challenge.deserialize(challengeText())),
    })
    expect(await headersOf()).toEqual({ authorization, 'idempotency-key': paymentId })
  })

  test('goes into the header that the challenge names', async () => {
    const [own] = offersOf(challengeText({}, { header: 'Payment-Authorization' }))
    const protocol = open()
    const headers = await protocol.headers(protocol.draw(termsOf(own!), attempt))
    expect(Object.keys(headers)).toEqual(['payment-authorization', 'idempotency-key'])
  })

  test.each([
    ['the amount', { amountAtomic: 9_999n }],
    ['the scheme', { scheme: 'evm/other' }],
    ['the network', { network: 'eip155:1' }],
    ['the asset', { asset: payTo }],
    ['the recipient', { payTo: basePolicy.asset }],
    ['the transfer', { transferMethod: 'permit2' }],
    ['the header', { singleUse: { ...offer.singleUse!, header: 'payment' } }],
    ['the challenge', { raw: { challenge: challengeText({ amount: '20000' }) } }],
  ] as [string, Partial<Terms>][])('is not built where %s is not what was judged', async (_, change) => {
    await expect(headersOf(change)).rejects.toThrow(FatalError)
    await expect(headersOf(change)).rejects.toMatchObject({ code: 'bad_journal' })
  })

  test('is not built where the end is not what was judged', async () => {
    const drawn = open().draw(termsOf(offer), attempt)
    await expect(open().headers({ ...drawn, validBefore: expiresAt + 1 })).rejects.toMatchObject({
      code: 'bad_journal',
    })
  })

  test('is not built for the charge of another wallet', async () => {
    const drawn = open().draw(termsOf(offer), attempt)
    const other = { ...drawn, payer: payTo }
    await expect(open().headers(other)).rejects.toThrow(ConfigError)
    await expect(open().headers(other)).rejects.toMatchObject({ code: 'wallet_changed' })
    await expect(open().headers({ ...drawn, payer: drawn.payer.toUpperCase() })).resolves.toBeDefined()
  })

  test('that the wallet does not sign ends the lookup', async () => {
    const broken = { ...account, signTypedData: () => Promise.reject(new Error('no key')) }
    await expect(headersOf({}, { account: broken })).rejects.toThrow(FatalError)
    await expect(headersOf({}, { account: broken })).rejects.toMatchObject({ code: 'cannot_sign' })
    const refused = new ConfigError('locked', 'the wallet is locked')
    const locked = { ...account, signTypedData: () => Promise.reject(refused) }
    await expect(headersOf({}, { account: locked })).rejects.toBe(refused)
  })
})

test('the chain says what became of it, and without a chain nothing is known', async () => {
  const drawn = open().draw(termsOf(offer), attempt)
  expect(await open().fate(drawn)).toEqual({ kind: 'unknown' })
  const fate: Fate = { kind: 'live' }
  expect(await open({ chain: { fate: async () => fate } }).fate(drawn)).toBe(fate)
})

test('a receipt counts where it is of the method evm', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const receipt = (method: string) =>
    Buffer.from(
      JSON.stringify({ method, reference: hash, status: 'success', timestamp: '2026-05-01T00:00:00Z' }),
    ).toString('base64url')
  const read = (method: string, status = 200) =>
    open().receipt({ status, headers: { 'payment-receipt': receipt(method) }, body: '' })
  expect(read('evm')).toEqual({ success: true, transaction: hash, reason: null })
  expect(read('evm', 299)).toMatchObject({ success: true })
  expect(read('evm', 300)).toBeUndefined()
  expect(read('evm', 199)).toBeUndefined()
  expect(read('stripe')).toMatchObject({ success: false, reason: 'receipt_of_other_method' })
})
