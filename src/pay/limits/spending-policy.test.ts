import { describe, expect, test } from 'vitest'
import { PolicyDeniedError } from '../../domain/errors.ts'
import type { Offer, Protocol } from '../../domain/payment.ts'
import {
  once,
  singleUse,
  payTo,
  stranger,
  nowMs,
  asked,
  policy,
  digest,
  x402,
  mpp,
  card,
  good,
  hostile,
} from './hostile-offers.fixture.ts'
import {
  basePolicy,
  chooseTerms,
  checkOffer,
  stillPasses,
  type Asked,
  type SpendingPolicy,
} from './spending-policy.ts'

describe('the spending policy', () => {
  test.each(Object.entries(good))('lets an honest offer of %s through at 0.010000 USD', (_, offer) => {
    const { amount: __, ...rest } = offer
    expect(checkOffer(offer, policy, undefined, asked)).toEqual({
      ok: true,
      terms: { ...rest, amountAtomic: 10_000n },
    })
  })

  test.each(hostile)('refuses on %s %s', (protocol, _, change, rule) => {
    const offer = { ...good[protocol as keyof typeof good], ...change }
    const verdict = checkOffer(offer, policy, undefined, asked)
    expect(verdict).toMatchObject({ ok: false, rule })
    expect(() => chooseTerms([offer], policy, () => undefined, asked)).toThrow(PolicyDeniedError)
  })

  test('refuses an MPP offer that says nothing of its request', () => {
    const { singleUse: _, ...bare } = mpp
    expect(checkOffer(bare, policy, undefined, asked)).toMatchObject({ ok: false, rule: 'realm' })
  })

  test('refuses a card where none is configured, whoever was seen first', () => {
    const { cardProfiles: _, ...without } = policy
    expect(checkOffer(card, without, 'profile_1', asked)).toMatchObject({ ok: false, rule: 'recipient' })
  })

  test.each(['x402', 'mpp'] as const)('holds %s to the recipient first seen where none is named', (name) => {
    const open = { ...policy, recipients: [] }
    expect(checkOffer({ ...good[name], payTo: stranger }, open, undefined, asked).ok).toBe(true)
    expect(checkOffer({ ...good[name], payTo: stranger }, open, payTo, asked)).toMatchObject({
      rule: 'recipient',
    })
    expect(checkOffer({ ...good[name], payTo: payTo.toLowerCase() }, open, payTo, asked).ok).toBe(true)
  })

  test.each([
    ['the host with its port', 'https://api.example:8443/x', 'api.example:8443', undefined, true],
    ['the host in capitals', 'https://api.example/x', 'API.example', undefined, true],
    ['a realm that is configured', 'https://api.example/x', 'MPP Payment', ['MPP Payment'], true],
    [
      'the host where another realm is configured',
      'https://api.example/x',
      'api.example',
      ['MPP Payment'],
      false,
    ],
  ])('takes the realm: %s', (_, url, realm, realms, ok) => {
    const settled = realms ? { ...policy, realms } : policy
    expect(checkOffer({ ...mpp, ...once({ realm }) }, settled, undefined, { ...asked, url }).ok).toBe(ok)
  })

  test.each([
    ['none', null],
    ['as RFC 9530 writes it', digest.replace(/=(.*)$/, '=:$1:')],
  ])('takes a digest: %s', (_, each) => {
    expect(
      checkOffer({ ...mpp, singleUse: { ...singleUse, digest: each } }, policy, undefined, asked).ok,
    ).toBe(true)
  })

  test('shows what it refuses bounded and printable', () => {
    const verdict = checkOffer(
      { ...x402, network: `a\u001b[31m\n${'b'.repeat(500)}` },
      policy,
      undefined,
      asked,
    )
    expect(verdict.ok === false && verdict.message).toMatch(/^[\x20-\x7e]{1,160}$/)
  })
})

describe('the choice between offers', () => {
  const choose = (offers: Offer[], order: Protocol[] = ['x402', 'mpp', 'mpp_card']) =>
    chooseTerms(offers, { ...policy, order }, () => undefined, asked)

  test.each([
    [['x402', 'mpp'], 'x402'],
    [['mpp', 'x402'], 'mpp'],
    [['mpp_card', 'mpp', 'x402'], 'mpp_card'],
    [['mpp'], 'mpp'],
  ] as [Protocol[], Protocol][])('ordered %j takes %s', (order, expected) => {
    expect(choose([card, x402, mpp], order).protocol).toBe(expected)
  })

  test('goes to the next protocol only past an offer that the policy refuses', () => {
    expect(choose([{ ...x402, payTo: stranger }, mpp]).protocol).toBe('mpp')
  })

  test.each(['x402', 'mpp'] as const)(
    'never takes a dear second offer of %s for a cheap first one on another network',
    (name) => {
      const cheap = { ...good[name], network: 'eip155:84532' }
      const dear = { ...good[name], amount: '5000000' }
      expect(() => choose([cheap, dear])).toThrow(/network/)
      expect(choose([cheap, dear, good[name]]).amountAtomic).toBe(10_000n)
    },
  )

  test('refuses what it is not configured for', () => {
    expect(() => choose([mpp, card], ['x402'])).toThrow(/no challenge that can be read/)
    expect(() => choose([])).toThrow(PolicyDeniedError)
  })
})

describe('the edges of the policy', () => {
  const passes = (
    offer: Partial<Offer>,
    change: Partial<SpendingPolicy> = {},
    request: Partial<Asked> = {},
  ) => checkOffer({ ...x402, ...offer }, { ...policy, ...change }, undefined, { ...asked, ...request })
  const lasting = (seconds: number) => ({
    ...mpp,
    singleUse: { ...singleUse, expiresAt: nowMs / 1000 + seconds },
  })

  test.each([
    ['the longest life', { maxTimeoutSeconds: 3600 }, true],
    ['a second more', { maxTimeoutSeconds: 3601 }, false],
    ['the shortest life', { maxTimeoutSeconds: 1 }, true],
    ['a challenge with fifteen seconds left', lasting(15), true],
    ['a challenge with fourteen seconds left', lasting(14), false],
    ['a challenge with ten minutes left', lasting(600), true],
    ['a challenge with a second more', lasting(601), false],
    ['an amount of thirty digits', { amount: `${'0'.repeat(25)}10000` }, true],
    ['an amount of thirty-one digits', { amount: `${'0'.repeat(26)}10000` }, false],
    ['a protocol that is not judged here', { protocol: 'api_key', scheme: 'direct' }, false],
  ] as [string, Partial<Offer>, boolean][])('%s: passes %s', (_, offer, ok) => {
    expect(passes(offer).ok).toBe(ok)
  })

  test('a life may be limited further, and longer proofs allowed', () => {
    expect(passes({ maxTimeoutSeconds: 61 }, { maxTimeoutSeconds: 60 }).ok).toBe(false)
    expect(passes(lasting(700), { maxProofSeconds: 700 }).ok).toBe(true)
  })

  test('an amount of nothing passes where that is accepted', () => {
    expect(passes({ amount: '0' }, { acceptsFree: true })).toMatchObject({
      ok: true,
      terms: { amountAtomic: 0n },
    })
  })

  test('the cap of the request goes before that of the policy', () => {
    expect(passes({ amount: '20000' }, {}, { maxPriceAtomic: 20_000n }).ok).toBe(true)
    expect(passes({ amount: '10000' }, {}, { maxPriceAtomic: 9_999n })).toMatchObject({
      ok: false,
      rule: 'price',
    })
  })

  test.each(['x-payment', 'payment', 'payment-signature', 'payment-authorization', 'x-payment-2'])(
    'a proof may stand in the header %s',
    (header) => {
      expect(passes({ ...mpp, singleUse: { ...singleUse, header } }).ok).toBe(true)
    },
  )

  test.each([
    'x-authorization',
    'authorization-x',
    'payments',
    'payment-',
    'xpayment',
    'payment-signature; x',
  ])('a proof may not stand in the header %s', (header) => {
    expect(passes({ ...mpp, singleUse: { ...singleUse, header } })).toMatchObject({
      ok: false,
      rule: 'header',
    })
  })

  test('the refusal says what was found and what was expected', () => {
    const messageOf = (offer: Partial<Offer>, change: Partial<SpendingPolicy> = {}) => {
      const verdict = passes(offer, change)
      return verdict.ok ? undefined : verdict.message
    }
    expect(messageOf({ amount: '20000' })).toMatch(/0\.020000 .*0\.010000/)
    expect(messageOf({ payTo: stranger })).toMatch(new RegExp(`${stranger}.*PAYDIRT_PAY_TO`))
    expect(messageOf({ network: 'a\u0002\u0001b' })).toMatch(/"a\?\?b".*eip155:8453/)
    expect(messageOf({ payTo: 'nobody' })).toMatch(/"nobody"/)
    expect(messageOf({ ...mpp, singleUse: { ...singleUse, realm: 'x' } })).toMatch(/"x".*api\.example/)
    const pinned = checkOffer({ ...x402, payTo: stranger }, { ...policy, recipients: [] }, payTo, asked)
    expect(pinned.ok === false && pinned.message).toContain(stranger)
    expect(pinned.ok === false && pinned.message).not.toContain('PAYDIRT_PAY_TO')
  })

  test('an address is the same whatever its letter case', () => {
    const unchecked = `0x${payTo.slice(2).toUpperCase()}`
    const mixed = `0x${payTo.slice(2, 12).toUpperCase()}${payTo.slice(12).toLowerCase()}`
    for (const each of [unchecked, mixed, payTo.toLowerCase()]) {
      expect(passes({ payTo: each }).ok).toBe(true)
      expect(passes({}, { recipients: [each] }).ok).toBe(true)
    }
    expect(passes({ asset: basePolicy.asset.toLowerCase() }).ok).toBe(true)
  })

  test('one of several recipients, realms and profiles is enough', () => {
    expect(passes({}, { recipients: [stranger, payTo] }).ok).toBe(true)
    expect(passes(mpp, { realms: ['other', 'API.example'] }).ok).toBe(true)
    expect(passes(mpp, { realms: [] }).ok).toBe(true)
    expect(passes(card, { cardProfiles: ['profile_0', 'profile_1'] }).ok).toBe(true)
  })
})

describe('terms that passed before', () => {
  const termsOf = (protocol: 'x402' | 'mpp' | 'mpp_card') => {
    const verdict = checkOffer(good[protocol], policy, undefined, asked)
    if (!verdict.ok) throw new Error(verdict.message)
    return verdict.terms
  }

  test.each(['x402', 'mpp', 'mpp_card'] as const)('still pass under the same policy: %s', (protocol) => {
    expect(stillPasses(termsOf(protocol), policy, asked)).toBe(true)
  })

  test.each([
    ['its protocol is not configured any more', { order: ['mpp'] }],
    ['the cap is lower', { maxPriceAtomic: 9_999n }],
    ['another recipient is configured', { recipients: [stranger] }],
    ['the network is another', { network: 'eip155:84532' }],
  ] as [string, Partial<SpendingPolicy>][])('do not where %s', (_, change) => {
    expect(stillPasses(termsOf('x402'), { ...policy, ...change }, asked)).toBe(false)
  })

  test('keep the recipient that was pinned for them', () => {
    expect(stillPasses(termsOf('x402'), { ...policy, recipients: [] }, asked)).toBe(true)
  })

  test('of a card do not where the cap in cents is lower', () => {
    expect(stillPasses(termsOf('mpp_card'), { ...policy, maxPriceAtomic: 9_999n }, asked)).toBe(false)
  })
})
