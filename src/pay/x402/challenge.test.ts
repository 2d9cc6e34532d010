import { describe, expect, test } from 'vitest'
import type { ResponseHead } from '../../domain/payment.ts'
import { basePolicy } from '../limits/spending-policy.ts'
import { readOffers, readReceipt } from './challenge.ts'

const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
const resource = { url: 'https://api.example/companies', description: '', mimeType: '' }
const accepted = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: basePolicy.asset,
  payTo,
  amount: '10000',
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
}
const version2 = { x402Version: 2, error: 'payment required', resource, accepts: [accepted] }
const { amount, ...common } = accepted
const acceptedV1 = {
  ...common,
  network: 'base',
  maxAmountRequired: amount,
  resource: resource.url,
  description: '',
  mimeType: '',
  outputSchema: {},
}
const version1 = { x402Version: 1, error: '', accepts: [acceptedV1] }

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const inHeader = (value: unknown, status = 402): ResponseHead => ({
  status,
  headers: { 'payment-required': base64(value) },
  body: '{}',
})
const inBody = (value: unknown): ResponseHead => ({ status: 402, headers: {}, body: JSON.stringify(value) })

const offer = {
  protocol: 'x402',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: basePolicy.asset,
  payTo,
  amount: '10000',
  maxTimeoutSeconds: 300,
  domainName: 'USD Coin',
  domainVersion: '2',
  transferMethod: 'eip3009',
  paymentFlow: 'after',
  paymentIdentifier: false,
}
const offer2 = { ...offer, version: 2, raw: { x402Version: 2, accepted, resource, extensions: {} } }
const offer1 = { ...offer, version: 1, raw: { x402Version: 1, accepted: acceptedV1 } }

describe('the offers of a 402', () => {
  test.each([
    ['version 2 in the header', inHeader(version2), [offer2]],
    ['version 2 in the body', inBody(version2), [offer2]],
    ['version 1 in the body', inBody(version1), [offer1]],
    ['the header before the body', { ...inBody(version1), headers: inHeader(version2).headers }, [offer2]],
    [
      'the body where the header cannot be read',
      { ...inBody(version1), headers: { 'payment-required': '!' } },
      [offer1],
    ],
    [
      'several, in their order',
      inHeader({ ...version2, accepts: [accepted, { ...accepted, amount: '7' }] }),
      [offer2, { ...offer2, amount: '7', raw: { ...offer2.raw, accepted: { ...accepted, amount: '7' } } }],
    ],
    ['none on another status', inHeader(version2, 200), []],
    ['none in a body that is no challenge', inBody({ ...version2, accepts: 7 }), []],
    ['none in a body that is no JSON', { status: 402, headers: {}, body: '<html>' }, []],
  ] as [string, ResponseHead, object[]][])('are read: %s', (_, response, offers) => {
    expect(readOffers(response)).toEqual(offers)
  })

  test.each([
    ['base', 'eip155:8453'],
    ['base-sepolia', 'eip155:84532'],
    ['solana', 'solana'],
  ])('of version 1 on %s are on %s', (network, expected) => {
    expect(readOffers(inBody({ ...version1, accepts: [{ ...acceptedV1, network }] }))).toMatchObject([
      { network: expected },
    ])
  })

  test('name what the server does with payment ids, and keep its extensions', () => {
    const extensions = { 'payment-identifier': { info: { required: false } } }
    expect(readOffers(inHeader({ ...version2, extensions }))).toMatchObject([
      { paymentIdentifier: true, raw: { extensions } },
    ])
    expect(readOffers(inHeader({ ...version2, extensions: { other: {} } }))).toMatchObject([
      { paymentIdentifier: false },
    ])
  })

  test.each([
    [{ assetTransferMethod: 'permit2', paymentFlow: 'upfront' }, ['', '', 'permit2', 'upfront']],
    [{ name: 7, version: { a: 1 } }, ['7', '{"a":1}', 'eip3009', 'after']],
    [{ name: null }, ['""', '', 'eip3009', 'after']],
    [undefined, ['', '', 'eip3009', 'after']],
  ])('read what the token needs from %j', (extra, expected) => {
    for (const response of [
      inHeader({ ...version2, accepts: [{ ...accepted, extra }] }),
      inBody({ ...version1, accepts: [{ ...acceptedV1, extra }] }),
    ]) {
      const [found] = readOffers(response)
      const texts = [found?.domainName, found?.domainVersion, found?.transferMethod, found?.paymentFlow]
      expect(texts).toEqual(expected.map((text) => (text === '' ? '""' : text)))
    }
  })
})

describe('what the server says of a payment', () => {
  const hash = `0x${'aB'.repeat(32)}`
  const settled = (change: object = {}, header = 'payment-response', status = 200): ResponseHead => ({
    status,
    headers: { [header]: base64({ success: true, transaction: hash, network: 'eip155:8453', ...change }) },
    body: '',
  })

  test.each([
    ['a settlement', settled(), true, hash.toLowerCase(), null],
    ['the older header', settled({}, 'x-payment-response'), true, hash.toLowerCase(), null],
    [
      'a failure',
      settled({ success: false, errorReason: 'insufficient_funds', transaction: '' }),
      false,
      null,
      'insufficient_funds',
    ],
    [
      'a failure in free text',
      settled({ success: false, errorReason: 'see <b>' }),
      false,
      hash.toLowerCase(),
      null,
    ],
    [
      'a failure in a long text',
      settled({ success: false, errorReason: 'a'.repeat(81) }),
      false,
      hash.toLowerCase(),
      null,
    ],
    [
      'a failure in a text of 80',
      settled({ success: false, errorReason: 'a'.repeat(80) }),
      false,
      hash.toLowerCase(),
      'a'.repeat(80),
    ],
    ['a success that is only a word', settled({ success: 'yes' }), false, hash.toLowerCase(), null],
    ['a hash that is too long', settled({ transaction: `${hash}0` }), true, null, null],
    ['a hash with something before it', settled({ transaction: ` ${hash}` }), true, null, null],
    ['a hash that is a number', settled({ transaction: 7 }), true, null, null],
    [
      'a header that cannot be read',
      { status: 200, headers: { 'payment-response': '!' }, body: '' },
      false,
      null,
      'unreadable_receipt',
    ],
    [
      'the error of a repeated challenge',
      inHeader({ ...version2, error: 'nonce already used' }),
      false,
      null,
      'nonce already used',
    ],
    ['the error in the body', inBody({ ...version1, error: 'expired' }), false, null, 'expired'],
    ['a 402 without a challenge', { status: 402, headers: {}, body: '' }, false, null, null],
  ] as [string, ResponseHead, boolean, string | null, string | null][])(
    'is read from %s',
    (_, response, success, transaction, reason) => {
      expect(readReceipt(response)).toEqual({ success, transaction, reason })
    },
  )

  test('is nothing where an answer says nothing', () => {
    expect(readReceipt({ status: 200, headers: {}, body: JSON.stringify(version2) })).toBeUndefined()
  })
})
