import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PolicyDeniedError } from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import { createAdmission, type AdmissionOptions } from './admission.ts'
import { challenge, host, offerOf, payTo } from '../payer-replies.fixture.ts'
import { openStage } from '../payer-stage.fixture.ts'

const stranger = '0x00000000000000000000000000000000DeaDBeef'
const endpoint = `POST ${host}/companies`

function open(change: Partial<AdmissionOptions> = {}, name: 'x402' | 'mpp' = 'x402') {
  const stage = openStage(name)
  const admission = createAdmission({ ...stage.options, ...change })
  const admit = (offer = offerOf(name)) => admission.admit(stage.purchase, challenge(offer))
  return { ...stage, admission, admit }
}
const openPolicy = { ...openStage().options.policy, recipients: [] }

describe('a challenge that passes', () => {
  test('is remembered for its endpoint, and its recipient pinned for the host and protocol', async () => {
    const { admit, admission, purchase, events, pins } = open()
    expect(await admit()).toMatchObject({ amountAtomic: 10_000n, payTo })
    expect(events).toEqual([`remember ${endpoint}`])
    expect([...pins]).toEqual([[`${host} x402`, payTo]])
    expect(await admission.remembered(purchase)).toMatchObject({ amountAtomic: 10_000n, payTo })
  })

  test('for one lookup alone is not remembered', async () => {
    const { admit, book } = open({}, 'mpp')
    expect(await admit()).toMatchObject({ protocol: 'mpp' })
    expect(book.size).toBe(0)
  })

  test('is forgotten on demand', async () => {
    const { admit, admission, purchase } = open()
    await admit()
    await admission.forget(endpoint)
    expect(await admission.remembered(purchase)).toBeUndefined()
  })

  test('is judged by the body as it goes over the wire', async () => {
    const digest = `sha-256=${createHash('sha256').update('on the wire').digest('base64')}`
    const offer = offerOf('mpp')
    const bound = { ...offer, singleUse: { ...offer.singleUse!, digest } }
    await expect(open({ wireBody: () => 'on the wire' }, 'mpp').admit(bound)).resolves.toMatchObject({
      protocol: 'mpp',
    })
    await expect(open({}, 'mpp').admit(bound)).rejects.toMatchObject({ code: 'digest' })
  })

  test.each([
    [0, true],
    [290, false],
  ])('%i seconds after it was given: passes %s', async (seconds, passes) => {
    const { admit, pass } = open({}, 'mpp')
    pass(seconds)
    if (passes) await expect(admit()).resolves.toMatchObject({ protocol: 'mpp' })
    else await expect(admit()).rejects.toMatchObject({ code: 'expired' })
  })
})

describe('the cap of a lookup', () => {
  const policy = { ...openStage().options.policy, maxPrices: { 'company.profile': 25_000n } }

  test('is that of its step, else the common one', async () => {
    await expect(open({ policy }).admit(offerOf('x402', { amount: '25000' }))).resolves.toBeDefined()
    await expect(open({ policy }).admit(offerOf('x402', { amount: '25001' }))).rejects.toMatchObject({
      code: 'price',
    })
    await expect(open().admit(offerOf('x402', { amount: '10001' }))).rejects.toMatchObject({ code: 'price' })
  })

  test('is the sum of what a request buys', async () => {
    const { admission, purchase } = open({ policy })
    const buys = [...purchase.buys, lookupKey('person.profile', 'profnet.example/in/a')]
    const admit = (amount: string) =>
      admission.admit({ ...purchase, buys }, challenge(offerOf('x402', { amount })))
    await expect(admit('35001')).rejects.toMatchObject({ code: 'price' })
    await expect(admit('35000')).resolves.toMatchObject({ amountAtomic: 35_000n })
  })
})

describe('the recipient where none is configured', () => {
  test('is the one first seen for the host', async () => {
    const { admit } = open({ policy: openPolicy })
    await admit()
    await expect(admit(offerOf('x402', { payTo: payTo.toLowerCase() }))).resolves.toBeDefined()
    await expect(admit(offerOf('x402', { payTo: stranger }))).rejects.toMatchObject({ code: 'recipient' })
  })

  test('decides between the offers of a challenge', async () => {
    const { admit, admission, purchase } = open({ policy: openPolicy })
    await admit()
    const offers = [offerOf('x402', { payTo: stranger }), offerOf('x402')]
    expect(await admission.admit(purchase, challenge(offers))).toMatchObject({ payTo })
  })

  test('is the one that another process pinned at the same time', async () => {
    const stage = openStage()
    const terms = { ...stage.options.terms, pinRecipient: async () => stranger }
    const { admit, book, events } = open({ policy: openPolicy, terms })
    await expect(admit()).rejects.toMatchObject({ name: PolicyDeniedError.name, code: 'recipient' })
    expect(book.size).toBe(0)
    expect(events).toEqual([expect.stringMatching(new RegExp(`^refused recipient .*${payTo}.*${host}`))])
  })

  test('may be pinned in another spelling of the same address', async () => {
    const stage = openStage()
    const terms = {
      ...stage.options.terms,
      pinRecipient: async () => payTo.toUpperCase().replace('0X', '0x'),
    }
    await expect(open({ policy: openPolicy, terms }).admit()).resolves.toBeDefined()
  })

  test('is not asked for where one is configured', async () => {
    const stage = openStage()
    const terms = { ...stage.options.terms, pinRecipient: async () => stranger }
    await expect(open({ terms }).admit()).resolves.toBeDefined()
  })
})

describe('a challenge that is refused', () => {
  const dear = offerOf('x402', { amount: '10001' })

  test('is recorded with its rule, and not asked for again for half a minute', async () => {
    const { admit, admission, purchase, events, pass } = open()
    await expect(admit(dear)).rejects.toThrow(PolicyDeniedError)
    expect(events).toEqual([expect.stringMatching(`^refused price ${endpoint} ${purchase.key} run: .`)])
    await expect(admission.remembered(purchase)).rejects.toMatchObject({ code: 'price' })
    pass(29.999)
    await expect(admission.remembered(purchase)).rejects.toMatchObject({ code: 'price' })
    pass(0.001)
    expect(await admission.remembered(purchase)).toBeUndefined()
  })

  test('does not stand in the way of terms that pass', async () => {
    const { admit, admission, purchase } = open()
    await expect(admit(dear)).rejects.toThrow(PolicyDeniedError)
    await admit()
    expect(await admission.remembered(purchase)).toMatchObject({ amountAtomic: 10_000n })
  })

  test('of one step does not stand in the way of another at the same endpoint', async () => {
    const maxPrices = { 'contact.redeem:phone': 300_000n }
    const policy = { ...openStage().options.policy, maxPrices }
    const { admission, purchase } = open({ policy })
    const redeem = (type: string) => ({
      ...purchase,
      buys: [lookupKey('contact.redeem', `id:p1|${type}`)],
    })
    const asked = challenge(offerOf('x402', { amount: '150000' }))
    await expect(admission.admit(redeem('email-work'), asked)).rejects.toMatchObject({ code: 'price' })
    await expect(admission.remembered(redeem('email-work'))).rejects.toMatchObject({ code: 'price' })
    await expect(admission.remembered(redeem('phone'))).resolves.toBeUndefined()
    await expect(admission.admit(redeem('phone'), asked)).resolves.toMatchObject({ amountAtomic: 150_000n })
  })

  test('is not recorded where the ledger failed', async () => {
    const stage = openStage()
    const terms = { ...stage.options.terms, pinRecipient: () => Promise.reject(new Error('away')) }
    const { admit, admission, purchase, events } = open({ terms })
    await expect(admit()).rejects.toThrow('away')
    expect(events).toEqual([])
    expect(await admission.remembered(purchase)).toBeUndefined()
  })
})

test('terms that were remembered under other settings are asked for anew', async () => {
  const { admission, purchase, book, termsOf } = open()
  book.set(endpoint, termsOf({ amountAtomic: 10_001n }))
  expect(await admission.remembered(purchase)).toBeUndefined()
})

describe('terms that stand without a challenge', () => {
  test('are given for the cap of the lookup', async () => {
    const stage = openStage()
    const caps: bigint[] = []
    const fixedTerms: AdmissionOptions['fixedTerms'] = (_, cap) => {
      caps.push(cap)
      return stage.termsOf({ amountAtomic: 7n })
    }
    const { admission, purchase, book } = open({ fixedTerms })
    book.set(endpoint, stage.termsOf())
    expect(await admission.remembered(purchase)).toMatchObject({ amountAtomic: 7n })
    expect(caps).toEqual([10_000n])
  })

  test.each([
    [new PolicyDeniedError('price', 'too dear'), 1],
    [new Error('broken'), 0],
  ])('throw as they do, and %s is recorded %i times', async (error, times) => {
    const fixedTerms = () => {
      throw error
    }
    const { admission, purchase, events } = open({ fixedTerms })
    await expect(admission.remembered(purchase)).rejects.toBe(error)
    expect(events).toHaveLength(times)
  })
})
