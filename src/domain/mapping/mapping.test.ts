// One file because every fault of a mapping is refused by the same schema.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editDistance, nearNames } from '../normalise/near-names.ts'
import { mappingSchema, resolveMapping } from './schema.ts'
import { isOwnWrite, stampSlackMs, writeStamp } from './stamp.ts'
import {
  asDefaults,
  checkMapping,
  identityOf,
  type CrmMapping,
  type DescribedField,
  type EntityMapping,
} from './mapping.ts'
import { testSeed } from '../../../test/support/seed.ts'

const described = (name: string, more: Partial<DescribedField> = {}): DescribedField => ({
  name,
  label: name,
  type: 'text',
  writable: true,
  custom: false,
  ...more,
})
const contacts: EntityMapping = {
  object: 'person',
  fields: { job_title: { property: 'jobtitle' }, company_name: { property: 'company' } },
  identity: {
    profileUrl: ['profnet_url'],
    email: ['email', 'work_email'],
    phone: ['phone', 'mobilephone'],
    firstName: ['firstname'],
    lastName: ['lastname'],
  },
}
const defaults: CrmMapping = {
  own: { status: 'paydirt_status', enrichedAt: 'paydirt_enriched_at', source: 'paydirt_source' },
  entities: {
    companies: {
      object: 'company',
      fields: {
        domain: { property: 'domain' },
        industry: { property: 'industry' },
        employees: { property: 'numberofemployees' },
        country_code: { property: 'country', as: 'country_name' },
      },
      identity: { profileUrl: ['profnet_url'], domain: ['domain', 'website'], company: ['name'] },
    },
    contacts,
  },
}

describe('a mapping checked against the CRM', () => {
  const mapping: EntityMapping = {
    object: 'person',
    fields: { job_title: { property: 'jobtitel' }, about: { property: 'score' }, city: { property: 'city' } },
    identity: { email: ['emial'], company: ['Account.Name'], phone: ['phone'] },
  }
  const has = ['jobtitle', 'city', 'email', 'phone'].map((name) => described(name))

  test('is refused for missing, read-only and compound properties, with similar names', () => {
    const fields = [
      ...has,
      described('score', { writable: false }),
      described('scores'),
      described('AccountId', { type: 'reference' }),
    ]
    expect(checkMapping(mapping, fields)).toEqual([
      expect.objectContaining({ code: 'unknown_property', at: 'fields.job_title', near: ['jobtitle'] }),
      expect.objectContaining({ code: 'read_only', at: 'fields.about', near: ['scores'] }),
      expect.objectContaining({ code: 'unknown_property', at: 'identity.email', near: ['email'] }),
    ])
    const reference = { ...mapping, fields: { city: { property: 'AccountId' } } }
    expect(checkMapping(reference, fields)[0]).toMatchObject({ code: 'wrong_type', at: 'fields.city' })
  })

  test('misses a reference that is not there', () => {
    expect(checkMapping(mapping, has).map(({ at }) => at)).toContain('identity.company')
  })

  test('does not report properties that will be created', () => {
    const create = { label: 'Profile', type: 'url' } as const
    const own: EntityMapping = {
      object: 'person',
      fields: { profnet_url: { property: 'profile', create } },
      identity: { profileUrl: ['profile'] },
    }
    expect(checkMapping(own, [])).toEqual([])
  })

  test('stops nothing for a property of the default mapping, and does for one that the config file names', () => {
    const byDefault = asDefaults({ ...defaults, entities: { contacts: { ...mapping, fields: {} } } })
    const optional = (changes: unknown) => {
      const resolved = resolveMapping(byDefault, mappingSchema.parse(changes))
      return checkMapping(resolved.entities['contacts']!, has).map((problem) => [
        problem.at,
        problem.optional,
      ])
    }
    expect(optional({})).toEqual([
      ['identity.email', true],
      ['identity.company', true],
    ])
    const named = { fields: { job_title: 'jobtitel' }, identity: { email: ['emial'] } }
    expect(optional({ contacts: named })).toEqual([
      ['fields.job_title', false],
      ['identity.email', false],
      ['identity.company', true],
    ])
  })

  test('names only what can be written where something is to be written', () => {
    const near = [described('phone_a', { writable: false }), described('phone_b')]
    const wrong: EntityMapping = {
      object: 'person',
      fields: { phone: { property: 'phone_c' } },
      identity: { phone: ['phone_d'] },
    }
    expect(checkMapping(wrong, near).map((problem) => problem.near)).toEqual([
      ['phone_b'],
      ['phone_a', 'phone_b'],
    ])
  })

  test('finds a property by its label', () => {
    const byLabel = { ...mapping, fields: { city: { property: 'Number of Employees' } }, identity: {} }
    const fields = [described('numberofstaff', { label: 'Number of employees' })]
    expect(checkMapping(byLabel, fields)[0]!.near).toEqual(['numberofstaff'])
  })
})

describe('the identity of a record', () => {
  test('is the first property that is filled, and nothing for a blank of any kind', () => {
    expect(
      identityOf(contacts, {
        email: '',
        work_email: ' ana@norvik.com ',
        phone: null,
        mobilephone: '  ',
        firstname: 'Ana',
        lastname: undefined,
      }),
    ).toEqual({ email: 'ana@norvik.com', firstName: 'Ana' })
    expect(identityOf(contacts, {})).toEqual({})
  })
})

describe('the mapping of the config file', () => {
  const resolve = (changes: unknown): ReturnType<typeof resolveMapping> =>
    resolveMapping(defaults, mappingSchema.parse(changes))

  test('changes the default where it says so, and nothing else', () => {
    const { entities } = resolve({
      companies: {
        fields: {
          employees: 'headcount',
          industry: false,
          country_code: 'land',
          tagline: { property: 'slogan' },
        },
        identity: { profileUrl: ['profile'] },
      },
    })
    const { fields, identity } = entities['companies']!
    const before = defaults.entities['companies']!
    expect(fields['employees']).toEqual({ property: 'headcount' })
    expect(fields).not.toHaveProperty('industry')
    expect(fields['country_code']).toEqual({ property: 'land', as: 'country_name' })
    expect(fields['tagline']).toEqual({ property: 'slogan' })
    expect(fields['domain']).toEqual(before.fields['domain'])
    expect(identity).toEqual({ ...before.identity, profileUrl: ['profile'] })
    expect(entities['contacts']).toEqual(contacts)
  })

  test.each(['text', 'number', 'option', 'options', 'phone', 'country_code', 'country_name'])(
    'may write a field as %s',
    (as) => {
      const { entities } = resolve({ companies: { fields: { tagline: { property: 'slogan', as } } } })
      expect(entities['companies']?.fields['tagline']).toEqual({ property: 'slogan', as })
    },
  )

  test.each(['text', 'number', 'url'])('may create a property of type %s', (type) => {
    const created = { property: 'slogan', create: { label: 'Slogan', type } }
    const { entities } = resolve({ companies: { fields: { tagline: created } } })
    expect(entities['companies']?.fields['tagline']).toEqual(created)
  })

  test.each([
    ['an unknown object', { company: {} }, 'it may be companies'],
    ['an unknown field', { companies: { fields: { employes: 'x' } } }, 'near: employees'],
  ])('is refused for %s', (_, changes, message) => {
    expect(() => resolve(changes)).toThrow(message)
  })

  test.each([
    ['a wrong conversion', { companies: { fields: { city: { property: 'x', as: 'upper' } } } }],
    ['an unknown identity', { companies: { identity: { vat: ['x'] } } }],
    [
      'a type that cannot be created',
      {
        companies: { fields: { tagline: { property: 'x', create: { label: 'X', type: 'currency' } } } },
      },
    ],
    [
      'a property without a label',
      {
        companies: { fields: { tagline: { property: 'x', create: { label: '', type: 'text' } } } },
      },
    ],
    ['an empty property', { companies: { fields: { domain: '' } } }],
  ])('is refused by its schema for %s', (_, changes) => {
    expect(mappingSchema.safeParse(changes).success).toBe(false)
  })
})

describe('near names', () => {
  test.each([
    ['jobtitel', ['jobtitle', 'city'], ['jobtitle']],
    ['job_title', ['title', 'jobtitle'], ['jobtitle', 'title']],
    ['employees', ['numberofemployees', 'name'], ['numberofemployees']],
    ['xyz', ['abc', 'name'], []],
    ['', ['abc'], []],
  ])('of %s', (name, known, near) => {
    expect(nearNames(name, known)).toEqual(near)
  })

  test('the distance is symmetric, zero to oneself, and at most the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a))
        expect(editDistance(a, b) === 0).toBe(a === b)
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
      { seed: testSeed() },
    )
  })
})

describe('the stamp of our own writes', () => {
  const properties = ['city', 'email', 'employees', 'name']
  const atMs = 1_795_000_000_000
  const own = (values: Record<string, string | null>, source: string, modifiedAtMs = atMs): boolean =>
    isOwnWrite({ properties, values, source, enrichedAtMs: atMs, modifiedAtMs })

  test('matches while the written values are there, in any spelling of the CRM', () => {
    const source = writeStamp(properties, { email: 'Ana@Norvik.com', employees: 12, city: '' })
    expect(source.length).toBeLessThan(64)
    expect(own({ email: 'ana@norvik.com ', employees: '12.0', city: null, name: 'other' }, source)).toBe(true)
    expect(own({ email: 'ana@norvik.com', employees: '12', name: 'changed by another' }, source)).toBe(true)
  })

  test('matches times and yes or no in the forms of every CRM', () => {
    const written = { at: '2026-11-23T23:59:59.987Z', ad: false, day: '2026-11-23' }
    const source = writeStamp(['ad', 'at', 'day'], written)
    const isOurs = (values: Record<string, string | boolean>) =>
      isOwnWrite({ properties: ['ad', 'at', 'day'], values, source, enrichedAtMs: atMs, modifiedAtMs: atMs })
    const times = ['2026-11-23T23:59:59.000+0000', '2026-11-23T23:59:59Z', '2026-11-24T00:59:59+01:00']
    for (const at of times) expect(isOurs({ at, ad: 'false', day: '2026-11-23' })).toBe(true)
    expect(isOurs({ ...written, at: '2026-11-23T23:59:58Z' })).toBe(false)
    expect(isOurs({ ...written, day: '2026-11-22' })).toBe(false)
  })

  test('breaks by another value, a later change, other properties, and without a stamp', () => {
    const source = writeStamp(properties, { city: 'Lyon' })
    expect(own({ city: 'Lyon' }, source)).toBe(true)
    expect(own({ city: 'Paris' }, source)).toBe(false)
    expect(own({ city: null }, source)).toBe(false)
    expect(own({ city: 'Lyon' }, source, atMs + stampSlackMs)).toBe(true)
    expect(own({ city: 'Lyon' }, source, atMs + stampSlackMs + 1)).toBe(false)
    for (const broken of ['', 'paydirt', 'paydirt:zz:1', 'other:1:2', source.replace('paydirt', 'x')])
      expect(own({ city: 'Lyon' }, broken)).toBe(false)
    const times = { enrichedAtMs: undefined, modifiedAtMs: atMs }
    const never = { enrichedAtMs: atMs, modifiedAtMs: undefined }
    expect(isOwnWrite({ properties, values: { city: 'Lyon' }, source, ...never })).toBe(false)
    for (const none of [null, undefined])
      expect(
        isOwnWrite({ properties, values: {}, source: none, enrichedAtMs: atMs, modifiedAtMs: atMs }),
      ).toBe(false)
    expect(isOwnWrite({ properties, values: { city: 'Lyon' }, source, ...times })).toBe(false)
    const others = ['aaa', ...properties]
    expect(
      isOwnWrite({
        properties: others,
        values: { city: 'Lyon' },
        source,
        enrichedAtMs: atMs,
        modifiedAtMs: atMs,
      }),
    ).toBe(false)
  })

  test('of any write matches, and breaks when any written value differs', () => {
    const value = fc.string({ minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...properties), value, { minKeys: 1 }),
        fc.nat(),
        value,
        (written, at, other) => {
          const source = writeStamp(properties, written)
          expect(own(written, source)).toBe(true)
          const names = Object.keys(written)
          const name = names[at % names.length]!
          const changed = { ...written, [name]: `${written[name]}${other}!` }
          expect(own(changed, source)).toBe(false)
        },
      ),
      { seed: testSeed() },
    )
  })
})
