import { Challenge, Credential } from 'mppx'
import { challengeHash } from 'mppx/evm'
import { describe, expect, test } from 'vitest'
import { ConfigError, RetriableError } from '../../domain/errors.ts'
import type { Offer, Terms } from '../../domain/payment.ts'
import { createMppCard, type TokenRequest } from './card.ts'

const expiresAt = Date.UTC(2026, 4, 1, 0, 5) / 1000
const methodDetails = { networkId: 'profile_1', paymentMethodTypes: ['card'] }
const challengeText = (change: object = {}, outer: object = {}) =>
  Challenge.serialize(
    Challenge.from({
      id: 'one',
      realm: 'api.example',
      method: 'stripe',
      intent: 'charge',
      expires: '2026-05-01T00:05:00Z',
      request: { amount: '1', currency: 'usd', methodDetails, ...change },
      ...outer,
    } as never),
  )

function open(options: { createToken?: () => Promise<string>; repeatsAnswers?: boolean } = {}) {
  const requests: TokenRequest[] = []
  const protocol = createMppCard({
    paymentMethod: 'pm_1',
    createToken: async (request) => {
      requests.push(request)
      return 'spt_1'
    },
    ...options,
  })
  const offersOf = (text: string) =>
    protocol.offers({ status: 402, headers: { 'www-authenticate': text }, body: '' })
  return { protocol, requests, offersOf }
}
const offer: Offer = {
  protocol: 'mpp_card',
  version: 1,
  scheme: 'stripe/charge',
  network: 'card',
  asset: 'usd',
  payTo: 'profile_1',
  amount: '1',
  maxTimeoutSeconds: 0,
  domainName: '',
  domainVersion: '',
  transferMethod: 'card',
  paymentFlow: 'unsaid',
  singleUse: { realm: 'api.example', digest: null, expiresAt, header: 'authorization' },
  paymentIdentifier: false,
  raw: { challenge: challengeText() },
}
const { amount: _, ...common } = offer
const terms: Terms = { ...common, amountAtomic: 10_000n }
const attempt = { seed: 'ledger|key|1', nowMs: 0, lifetimeSeconds: 1 }

describe('the offer of a card', () => {
  test('is read from the challenge', () => {
    expect(open().offersOf(challengeText())).toEqual([offer])
    expect(open({ repeatsAnswers: true }).offersOf(challengeText())).toMatchObject([
      { paymentIdentifier: true },
    ])
  })

  test.each([
    ['decimals', { methodDetails: { ...methodDetails, decimals: 2 } }, { decimals: 2 }],
    ['a profile that charges for another', { recipient: 'acct_2' }, { payTo: 'profile_1/acct_2' }],
    [
      'metadata that mppx keeps for itself',
      { methodDetails: { ...methodDetails, metadata: { externalId: 'x' } } },
      { transferMethod: 'reserved metadata' },
    ],
    [
      'other metadata',
      { methodDetails: { ...methodDetails, metadata: { a: 'x' } } },
      { transferMethod: 'card' },
    ],
    [
      'another way than a card',
      { methodDetails: { ...methodDetails, paymentMethodTypes: ['link'] } },
      { transferMethod: '<["link"]>' },
    ],
    [
      'a way that is no list',
      { methodDetails: { ...methodDetails, paymentMethodTypes: 'card payment' } },
      { transferMethod: 'card payment' },
    ],
    ['no profile', { methodDetails: {} }, { payTo: '', transferMethod: '' }],
  ] as [string, object, Partial<Offer>][])('names %s', (__, change, expected) => {
    expect(open().offersOf(challengeText(change))).toMatchObject([expected])
  })

  test('of another method is not ours', () => {
    expect(open().offersOf(challengeText({}, { method: 'evm' }))).toEqual([])
  })
})

describe('the proof of a card', () => {
  test('is a token for this payment alone, the same for every send', async () => {
    const { protocol, requests } = open()
    const drawn = protocol.draw(terms, attempt)
    expect(drawn).toEqual({
      terms,
      payer: 'pm_1',
      nonce: challengeHash(Challenge.deserialize(challengeText())),
      validAfter: 0,
      validBefore: expiresAt,
      paymentId: expect.stringMatching(/^pd_[0-9a-f]{40}$/),
    })
    const headers = await protocol.headers(drawn)
    expect(headers).toEqual({ authorization: expect.any(String), 'idempotency-key': drawn.paymentId })
    const { challenge, payload } = Credential.deserialize(headers['authorization']!)
    expect(challenge).toMatchObject({ id: 'one', method: 'stripe' })
    expect(payload).toMatchObject({ spt: 'spt_1' })
    expect(requests).toEqual([
      {
        amount: '1',
        currency: 'usd',
        networkId: 'profile_1',
        expiresAt,
        paymentMethod: 'pm_1',
        idempotencyKey: drawn.paymentId,
      },
    ])
  })

  test('goes into the header that the challenge names', async () => {
    const { protocol, offersOf } = open()
    const [{ amount: __, ...own } = offer] = offersOf(challengeText({}, { header: 'Payment-Authorization' }))
    const headers = await protocol.headers(protocol.draw({ ...own, amountAtomic: 10_000n }, attempt))
    expect(Object.keys(headers)).toEqual(['payment-authorization', 'idempotency-key'])
  })

  test.each([
    ['the amount', { amountAtomic: 10_001n }],
    ['the profile', { payTo: 'profile_2' }],
  ])('is not asked for where %s is not what was judged', async (__, change) => {
    const { protocol, requests } = open()
    const drawn = protocol.draw(terms, attempt)
    await expect(protocol.headers({ ...drawn, terms: { ...terms, ...change } })).rejects.toMatchObject({
      code: 'bad_journal',
    })
    expect(requests).toEqual([])
  })

  test('is not asked for on another card', async () => {
    const { protocol, requests } = open()
    const drawn = { ...protocol.draw(terms, attempt), payer: 'pm_2' }
    await expect(protocol.headers(drawn)).rejects.toThrow(ConfigError)
    expect(requests).toEqual([])
  })

  test('that the issuer does not give may be tried again', async () => {
    const { protocol } = open({ createToken: () => Promise.reject(new Error('declined')) })
    const headers = protocol.headers(protocol.draw(terms, attempt))
    await expect(headers).rejects.toThrow(RetriableError)
    await expect(headers).rejects.toMatchObject({ code: 'no_card_token', cause: { message: 'declined' } })
  })

  test('without an end is over from the start', () => {
    const { singleUse: __, ...endless } = terms
    expect(open().protocol.draw(endless, attempt).validBefore).toBe(0)
  })
})

test('nobody can be asked whether a card was charged, and a receipt counts where it is of a card', async () => {
  const { protocol } = open()
  expect(await protocol.fate(protocol.draw(terms, attempt))).toEqual({ kind: 'unknown' })
  const read = (change: object) =>
    protocol.receipt({
      status: 200,
      headers: {
        'payment-receipt': Buffer.from(
          JSON.stringify({
            method: 'stripe',
            reference: 'pi_1:A.b-c',
            status: 'success',
            timestamp: '2026-05-01T00:00:00Z',
            ...change,
          }),
        ).toString('base64url'),
      },
      body: '',
    })
  expect(read({})).toEqual({ success: true, transaction: 'pi_1:A.b-c', reason: null })
  expect(read({ reference: 'p'.repeat(128) })).toMatchObject({ transaction: 'p'.repeat(128) })
  for (const reference of ['p'.repeat(129), ' pi_1', 'pi_1 '])
    expect(read({ reference })).toMatchObject({ success: true, transaction: null })
  expect(read({ method: 'evm' })).toMatchObject({ success: false })
})
