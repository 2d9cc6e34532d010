import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { companyDomain, contactSearch, redemption, type ContactSearchOptions } from './contact-keys.ts'
import { contactTypes, isContactType } from '../contact-types.ts'
import type { Identity } from '../record.ts'

const found = (identity: Identity, options?: ContactSearchOptions) => {
  const result = contactSearch(identity, options)
  if (!result.ok) throw new Error(result.reason)
  return result.search
}

describe('the search for a person', () => {
  const name = { firstName: 'Ada', lastName: 'Moreau' }
  const all: Identity = {
    email: 'Ada@Acme.example',
    phone: '+33 6 12 34 56 78',
    ...name,
    domain: 'www.acme.example',
    company: 'Acme SA',
  }
  test.each<[string, Identity, path: string, request: object]>([
    ['everything', all, 'email', { email: 'ada@acme.example' }],
    ['no e-mail', { ...all, email: 'n/a' }, 'phone', { phone: '+33612345678' }],
    [
      'a website for a domain',
      { ...name, domain: 'https://shop.acme.co.uk/de?x=1' },
      'name_domain',
      { first_name: 'Ada', last_name: 'Moreau', domain: 'acme.co.uk' },
    ],
    [
      'an invalid phone',
      { ...all, email: '', phone: '12' },
      'name_domain',
      { first_name: 'Ada', last_name: 'Moreau', domain: 'acme.example' },
    ],
    [
      'the domain of a mailbox provider',
      { ...name, domain: 'gmail.com', company: ' Acme   SA ' },
      'name_company',
      { first_name: 'Ada', last_name: 'Moreau', company: 'Acme SA' },
    ],
    [
      'a company alone',
      { ...name, company: 'Acme SA' },
      'name_company',
      { first_name: 'Ada', last_name: 'Moreau', company: 'Acme SA' },
    ],
  ])('with %s', (_, identity, path, request) => {
    expect(found(identity)).toMatchObject({ path, request })
    expect(found(identity).request).toEqual(request)
  })

  test.each<[Identity, string]>([
    [{}, 'no e-mail, phone, or name with domain or company'],
    [name, 'the name has no domain or company'],
    [{ firstName: 'Ada', domain: 'acme.example' }, 'half of the name is missing'],
    [
      { lastName: 'Moreau', firstName: '-', domain: 'acme.example' },
      'the name has no usable domain or company',
    ],
    [{ domain: 'acme.example', company: 'Acme' }, 'no e-mail, phone, or name with domain or company'],
    [{ ...name, domain: 'gmail.com' }, 'no usable domain or company'],
    [
      { email: 'ada at acme', phone: '0612345678' },
      'the e-mail is not an address, the phone is not a number',
    ],
  ])('a person with nothing to search by is not searched: %j', (identity, reason) => {
    const result = contactSearch(identity)
    expect(result).toEqual({ ok: false, reason: expect.stringContaining(reason) })
    for (const value of Object.values(identity) as string[])
      if (value.length > 3) expect((result as { reason: string }).reason).not.toContain(value)
  })

  test('a phone without prefix belongs to the country given, or to none', () => {
    expect(found({ phone: '06 12 34 56 78' }, { country: 'FR' }).request).toEqual({ phone: '+33612345678' })
    expect(contactSearch({ phone: '06 12 34 56 78' }).ok).toBe(false)
  })

  test('with a name to fall back on it is another question', () => {
    const similar = found(all, { similarity: true })
    expect(similar.request).toEqual({
      email: 'ada@acme.example',
      first_name: 'Ada',
      last_name: 'Moreau',
      domain: 'acme.example',
      is_enable_similarity_search: true,
    })
    expect(similar.key).not.toBe(found(all).key)
    // The switch says nothing where there is no name to fall back on, or nothing but a name.
    for (const identity of [{ email: 'ada@acme.example' }, { ...name, company: 'Acme' }])
      expect(found(identity, { similarity: true })).toEqual(found(identity))
  })
})

describe('one person in any spelling is one key a path', () => {
  const cased = (text: string) =>
    fc.constantFrom(text, text.toLowerCase(), text.toUpperCase(), text.normalize('NFD'))
  const around = fc.constantFrom('', ' ', '\t', '\u00a0')
  const padded = (text: fc.Arbitrary<string>) => fc.tuple(around, text, around).map((parts) => parts.join(''))
  const firstName = padded(cased('Zoë'))
  const lastName = padded(
    fc.constantFrom('O’Brien-Müller', "o'brien Müller", 'OBRIEN‐MULLER', 'O`Brien  Müller').chain(cased),
  )
  const domain = padded(
    fc.constantFrom(
      'acme.co.uk',
      'WWW.Acme.co.uk',
      'https://www.acme.co.uk/about/?x=1',
      'http://shop.acme.co.uk',
      '//acme.co.uk',
    ),
  )
  const company = padded(
    fc
      .constantFrom(
        'Acmé Robotics',
        'Acmé Robotics Ltd.',
        'ACMÉ ROBOTICS LIMITED',
        'Acmé-Robotics, Ltd',
        'The Acmé Robotics Co., Ltd.',
      )
      .chain(cased),
  )
  const email = padded(
    fc.constantFrom(
      'Zoe.OBrien@Acme.co.uk',
      'zoe.obrien@acme.co.uk',
      'mailto:ZOE.OBRIEN@ACME.CO.UK',
      'Zoë <zoe.obrien@acme.co.uk>',
    ),
  )
  const phone = padded(
    fc.constantFrom(
      '+44 20 7946 0018',
      '+442079460018',
      '0044 (20) 7946-0018',
      '020 7946 0018',
      '+44 (0)20 7946 0018',
    ),
  )
  const params = { seed: testSeed(), numRuns: 500 }
  const keysOf = (people: fc.Arbitrary<Identity>) => {
    const keys = new Set<string>()
    fc.assert(
      fc.property(people, (identity) => {
        keys.add(found(identity, { country: 'GB' }).key)
      }),
      params,
    )
    return [...keys]
  }

  test('by e-mail', () => {
    expect(keysOf(fc.record({ email, phone, firstName, lastName }, { requiredKeys: ['email'] }))).toEqual([
      'contact.lookup|email:zoe.obrien@acme.co.uk',
    ])
  })
  test('by phone', () => {
    expect(keysOf(fc.record({ phone, firstName, lastName, company }, { requiredKeys: ['phone'] }))).toEqual([
      'contact.lookup|phone:+442079460018',
    ])
  })
  test('by name and domain', () => {
    expect(
      keysOf(
        fc.record(
          { firstName, lastName, domain, company },
          { requiredKeys: ['firstName', 'lastName', 'domain'] },
        ),
      ),
    ).toEqual(['contact.lookup|name_domain:zoe obrien muller@acme.co.uk'])
  })
  test('by name and company', () => {
    expect(keysOf(fc.record({ firstName, lastName, company }))).toEqual([
      'contact.lookup|name_company:zoe obrien muller@acme robotics',
    ])
  })

  test('for any record, the search never throws and never has an empty field', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('', ' ', 'acme.example', '+1', 'a@b.example'),
    )
    fc.assert(
      fc.property(
        fc.record(
          { email: text, phone: text, firstName: text, lastName: text, domain: text, company: text },
          { requiredKeys: [] },
        ),
        fc.boolean(),
        (identity, similarity) => {
          const result = contactSearch(identity as Identity, { similarity })
          if (!result.ok) return
          for (const value of Object.values(result.search.request)) expect(String(value).trim()).not.toBe('')
        },
      ),
      params,
    )
  })
})

describe('a redemption', () => {
  test('is one person and one type', () => {
    const asked = contactTypes.map((type) => redemption({ profile: 'profnet.example/in/ada' }, type))
    expect(new Set(asked.map(({ key }) => key)).size).toBe(3)
    expect(asked[2]).toEqual({
      key: 'contact.redeem|profnet.example/in/ada|phone',
      request: { profnet_url: 'https://www.profnet.example/in/ada', people_contact_types: ['phone'] },
    })
    expect(redemption({ peopleSearchId: '77' }, 'email-work')).toEqual({
      key: 'contact.redeem|id:77|email-work',
      request: { people_search_id: '77', people_contact_types: ['email-work'] },
    })
    // Known by both, it is kept under the profile and asked for by the id.
    expect(redemption({ profile: 'profnet.example/in/ada', peopleSearchId: '77' }, 'phone')).toEqual({
      key: 'contact.redeem|profnet.example/in/ada|phone',
      request: { people_search_id: '77', people_contact_types: ['phone'] },
    })
    expect(() => redemption({}, 'phone')).toThrow(RangeError)
  })

  test('knows its vocabulary', () => {
    expect(['email-work', 'email', 'Phone', 'email_work', 'phone'].map(isContactType)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ])
  })
})

test('a company is looked up by its registrable domain, and a mailbox provider is no company', () => {
  expect(companyDomain('https://www.shop.acme.co.uk/x')).toEqual({ ok: true, value: 'acme.co.uk' })
  expect(companyDomain('gmail.com').ok).toBe(false)
})
