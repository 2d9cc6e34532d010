import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { contactTypes, type ContactType } from '../contact-types.ts'
import {
  chooseContacts,
  contactFaults,
  readMatchContacts,
  readRedemption,
  type Reveal,
} from './contact-values.ts'
import type { Fact } from '../record.ts'

const found = (data: Record<string, unknown>, priceAtomic?: bigint): Fact => ({
  outcome: 'found',
  data,
  ...(priceAtomic === undefined ? {} : { priceAtomic }),
})
const email = (value: string, status: string | null = null, type: string | null = 'email-work') => ({
  value,
  type,
  status,
})
const phone = (value: string, type: string | null, status: string | null = null) => ({ value, type, status })
const choose = (type: ContactType, list: unknown[]) =>
  chooseContacts(readRedemption(type, found(type === 'phone' ? { phones: list } : { emails: list })).values)

describe('an answer about a type', () => {
  test.each<[what: string, type: ContactType, fact: Fact, reveal: Reveal]>([
    ['values', 'email-work', found({ emails: [email('a@b.example')] }), 'found'],
    ['null: asked, nothing found', 'email-work', found({ emails: null, phones: [] }), 'nothing'],
    ['[]: read as nothing found', 'phone', found({ emails: null, phones: [] }), 'empty'],
    ['blanks alone', 'phone', found({ phones: [phone(' ', null), { value: null }] }), 'empty'],
    ['absent: not asked', 'phone', found({ emails: [email('a@b.example')] }), 'not_asked'],
    ['person unknown', 'phone', { outcome: 'not_found', data: null }, 'nothing'],
    ['person unknown, with a null', 'phone', { outcome: 'not_found', data: { phones: null } }, 'nothing'],
    ['no answer', 'phone', { outcome: 'failed', data: null }, 'not_asked'],
  ])('%s', (_, type, fact, reveal) => {
    const reading = readRedemption(type, fact)
    expect(reading.reveal).toBe(reveal)
    expect(reading.values.length > 0).toBe(reveal === 'found')
  })

  test('nothing found for free is distinguished from nothing found and paid', () => {
    expect(readRedemption('phone', found({ phones: null }, 0n))).toEqual({
      reveal: 'nothing',
      values: [],
      wasFree: true,
    })
    expect(readRedemption('phone', found({ phones: null }, 300_000n)).wasFree).toBe(false)
    expect(readRedemption('phone', found({ phones: null })).wasFree).toBeUndefined()
  })
})

describe('of several values', () => {
  test.each<[what: string, list: unknown[], chosen: string | undefined]>([
    [
      'the first verified',
      [email('a@b.example'), email('B@b.example', 'Verified'), email('c@b.example', 'Verified')],
      'b@b.example',
    ],
    ['else the first', [email('a@b.example'), email('b@b.example')], 'a@b.example'],
    ['never one that is dead', [email('a@b.example', 'invalid'), email('b@b.example')], 'b@b.example'],
    ['never an invalid one', [email('n/a'), email('b@b.example', null, null)], 'b@b.example'],
    [
      'never a personal one',
      [email('ada@gmail.com', 'Verified', 'personal'), email('a@b.example', null, 'work')],
      'a@b.example',
    ],
    ['none of only invalid ones', [email('n/a')], undefined],
  ])('the work e-mail is %s', (_, list, chosen) => {
    expect(choose('email-work', list)['email']).toBe(chosen)
  })

  test('a personal one has a field of its own', () => {
    expect(
      choose('email-personal', [email('ada@gmail.com', null, null), email('ada@acme.example', 'Verified')]),
    ).toEqual({
      email: 'ada@acme.example',
      email_personal: 'ada@gmail.com',
    })
  })

  type PhoneCase = [what: string, list: unknown[], phone?: string, mobile?: string, alone?: string]
  test.each<PhoneCase>([
    [
      'a landline beside its mobile, and the mobile where there is no other place',
      [phone('+33142685300', 'landline', 'Verified'), phone('+33612345678', 'mobile')],
      '+33142685300',
      '+33612345678',
      '+33612345678',
    ],
    [
      'a mobile where there is nothing else',
      [phone('+33612345678', 'mobile')],
      '+33612345678',
      '+33612345678',
    ],
    [
      'a verified one before others',
      [phone('+33612345678', 'mobile'), phone('+33698765432', 'mobile', 'Verified')],
      '+33698765432',
      '+33698765432',
    ],
    [
      'of the kind that the number itself shows',
      [phone('+33142685300', null), phone('+33612345678', null)],
      '+33142685300',
      '+33612345678',
      '+33612345678',
    ],
    [
      'an unknown kind before a landline',
      [phone('+14155552671', 'landline'), phone('+14155552672', null)],
      '+14155552672',
    ],
    [
      'a verified one of unknown kind beside a mobile',
      [phone('+14155552672', null, 'Verified'), phone('+33612345678', 'mobile')],
      '+14155552672',
      '+33612345678',
      '+33612345678',
    ],
    ['a landline, but never as a mobile', [phone('+33 1 42 68 53 00', 'direct')], '+33142685300'],
    ['no invalid number', [phone('12', 'mobile'), phone('+33612345678', 'mobile', 'do not call')]],
  ])('the phone is %s', (_, list, best, mobile, alone = best) => {
    const { values } = readRedemption('phone', found({ phones: list }))
    const chosen = chooseContacts(values)
    expect([chosen['phone'], chosen['mobile_phone']]).toEqual([best, mobile])
    expect(chooseContacts(values, { usesMobile: false })['phone']).toBe(alone)
  })
})

test('a match may reveal something by itself', () => {
  const match = {
    emails: [email('ada@gmail.com', null, null), email('ada@acme.example', null, null)],
    phones: null,
  }
  expect(readMatchContacts(match)).toEqual([
    { type: 'email-personal', value: 'ada@gmail.com', isVerified: false },
    { type: 'email-work', value: 'ada@acme.example', isVerified: false },
  ])
  expect(readMatchContacts({})).toEqual([])
})

test('for any answer, reading never throws and chooses no blank', () => {
  fc.assert(
    fc.property(fc.constantFrom(...contactTypes), fc.jsonValue(), fc.jsonValue(), (type, emails, phones) => {
      const { values } = readRedemption(type, found({ emails, phones }))
      for (const value of Object.values(chooseContacts(values))) expect(String(value).trim()).not.toBe('')
      expect(readMatchContacts({ emails, phones })).toBeInstanceOf(Array)
    }),
    { seed: testSeed(), numRuns: 500 },
  )
})

test.each([
  [[{ value: 12 }], 'found'],
  [[{ value: ' ' }, {}], 'empty'],
  [[], 'empty'],
  [null, 'nothing'],
  [undefined, 'not_asked'],
])('the list %j is %s', (phones, reveal) => {
  expect(readRedemption('phone', found({ phones }))).toMatchObject({ reveal })
})

test('a phone keeps the extension under which it was found', () => {
  const fact = found({ phones: [{ value: '+49 30 901820 ext 12', type: null, status: null }] })
  expect(readRedemption('phone', fact).values).toMatchObject([{ value: '+4930901820 ext. 12' }])
})

test('contacts that are none are named by their field, and dead ones are not', () => {
  const emails = [{ value: 'ada', type: 'work', status: null }]
  const phones = [{ value: '12', type: null, status: 'disconnected' }]
  expect(contactFaults({ emails, phones })).toEqual({ email: 'it is not an e-mail address' })
  expect(contactFaults({ emails: null, phones: [{ value: '12', status: null }] })).toEqual({
    phone: 'it is not a phone number',
  })
  expect(contactFaults(null)).toEqual({})
})
