import { describe, expect, test } from 'vitest'
import { boughtFieldNames, profileValues } from '../fields.ts'
import { nextStep, recipes, type Facts } from './planner.ts'
import type { Fact, Identity } from '../record.ts'

const company = (identity: Identity, facts: Facts = {}) =>
  nextStep({ object: 'company', identity }, recipes.company, facts)
const acme = { profileUrl: 'http://DE.profnet.com/company/Acme/?x=1' }
const found = (data: Record<string, unknown>): Fact => ({ outcome: 'found', data })

describe('the next step of a company', () => {
  test('is its profile, requested in one spelling', () => {
    expect(company(acme)).toEqual({
      kind: 'lookup',
      lookup: {
        key: 'company.profile|profnet.com/company/acme',
        operation: 'company.profile',
        request: { profnet_url: 'https://www.profnet.com/company/acme' },
      },
      why: expect.stringContaining('profile URL'),
    })
  })

  test('is its logo when its domain is known, however that is written', () => {
    const facts = { 'company.profile': found({ company_name: 'Acme', domain: 'WWW.Acme.Example' }) }
    expect(company(acme, facts)).toMatchObject({
      kind: 'lookup',
      lookup: {
        key: 'company.logo|acme.example',
        operation: 'company.logo',
        request: { domain: 'acme.example' },
      },
    })
  })

  test.each<[what: string, logo: Fact, values: object]>([
    [
      'with its logo',
      found({ url: 'https://logo/x' }),
      { company_name: 'Acme', domain: 'acme.example', logo: 'https://logo/x' },
    ],
    [
      'without, when there is none',
      { outcome: 'not_found', data: null },
      { company_name: 'Acme', domain: 'acme.example' },
    ],
    [
      'without, when it could not be had',
      { outcome: 'failed', data: null },
      { company_name: 'Acme', domain: 'acme.example' },
    ],
  ])('is to write what was found, %s', (_, logo, values) => {
    const profile = found({ company_name: 'Acme', domain: 'acme.example', industry: null })
    expect(company(acme, { 'company.profile': profile, 'company.logo': logo })).toEqual({
      kind: 'write',
      values,
    })
  })

  test.each<[domain: unknown]>([[null], [''], ['no domain'], [undefined]])(
    'asks for no logo of the domain %j',
    (domain) => {
      expect(company(acme, { 'company.profile': found({ company_name: 'Acme', domain }) }).kind).toBe('write')
    },
  )

  test.each<[what: string, identity: Identity, facts: Facts, status: string, reason: string]>([
    ['no URL', { domain: 'acme.example' }, {}, 'skipped', 'no profile URL'],
    ['a broken URL', { profileUrl: 'acme' }, {}, 'rejected', 'broken profile URL: it has no host name'],
    [
      'a URL of another host',
      { profileUrl: 'https://profnet.com.elsewhere.example/company/acme' },
      {},
      'rejected',
      'broken profile URL: its host is not profnet.com or profnet.example (service.networkHosts)',
    ],
    [
      'no company under it',
      acme,
      { 'company.profile': { outcome: 'not_found', data: null } },
      'unchanged',
      'not found',
    ],
    [
      'an answer that cannot be read',
      acme,
      { 'company.profile': { outcome: 'unreadable', data: { raw: 'x' } } },
      'rejected',
      'could not be read',
    ],
    [
      'a lookup that failed',
      acme,
      { 'company.profile': { outcome: 'failed', data: null, reason: 'gone' } },
      'rejected',
      'gone',
    ],
    [
      'an answer of nothing but blanks',
      acme,
      { 'company.profile': found({ company_name: ' ', domain: null }) },
      'unchanged',
      'no values',
    ],
  ])('stops for %s', (_, identity, facts, status, reason) => {
    expect(company(identity, facts)).toEqual({
      kind: 'stop',
      status,
      reason: expect.stringContaining(reason),
    })
  })
})

test('the next step of a person is its profile and then to write, whatever domain it has', () => {
  const identity = { profileUrl: 'https://profnet.com/in/ada', domain: 'acme.example' }
  expect(nextStep({ object: 'person', identity }, recipes.person, {})).toMatchObject({
    lookup: { key: 'person.profile|profnet.com/in/ada' },
  })
  expect(
    nextStep({ object: 'person', identity }, recipes.person, { 'person.profile': found({ name: 'Ada' }) }),
  ).toEqual({
    kind: 'write',
    values: { full_name: 'Ada' },
  })
})

describe('the values of an answer', () => {
  test('leave out blanks, and keep values that only look blank', () => {
    const answer = {
      company_name: ' Acme\n',
      domain: '',
      industry: null,
      description: '  ',
      follower_size: 0,
      company_size: NaN,
      founded_year: [],
    }
    expect(profileValues('company', answer)).toEqual({ company_name: 'Acme', followers: 0 })
  })

  test.each<[history: unknown, title: string | undefined]>([
    [
      [
        { title: 'Company-wide', positions: [{ title: 'Captain' }, { title: 'Mate' }] },
        { positions: [{ title: 'Old' }] },
      ],
      'Captain',
    ],
    [[{ title: 'Captain', positions: [] }], 'Captain'],
    [[{ title: 'Captain' }], 'Captain'],
    [[], undefined],
    [null, undefined],
    ['text', undefined],
    [[null], undefined],
  ])('of a person hold the current position of %j as %s', (employment_history, title) => {
    expect(profileValues('person', { employment_history })['job_title']).toBe(title)
  })

  test.each([null, [], 'text', { company_name: null }])(
    'of a person whose company is %j hold none',
    (value) => {
      expect(profileValues('person', { company: value })).toEqual({})
    },
  )

  test('have names that are listed, each once', () => {
    for (const object of ['company', 'person'] as const) {
      const names = boughtFieldNames(object)
      expect(new Set(names).size).toBe(names.length)
      const everything = {
        company: { company_name: 'c', profnet_url: 'u' },
        employment_history: [{ title: 't' }],
      }
      const answer = new Proxy(everything, { get: (target, name) => Reflect.get(target, name) ?? 'x' })
      for (const name of Object.keys(profileValues(object, answer))) expect(names).toContain(name)
    }
  })
})

describe('a record whose fields were undone', () => {
  const closed = { description: 'undone', industry: 'undone' } as const
  const recipe = {
    ...recipes.company,
    steps: ['company.profile'],
    fields: ['description', 'industry'],
  } as const
  const step = (facts: Facts, isFresh?: () => boolean) =>
    nextStep({ object: 'company', identity: acme, closed }, recipe, facts, isFresh ? { isFresh } : {})

  test('has nothing bought for it, and the reason says so', () => {
    const why = 'nothing that the recipe tells could be written: undone before: description, industry'
    for (const isFresh of [undefined, () => false])
      expect(step({}, isFresh)).toEqual({ kind: 'stop', status: 'unchanged', reason: why })
  })

  test('is decided by a fresh answer of the ledger, which may say something else', () => {
    expect(step({}, () => true)).toMatchObject({ kind: 'lookup', lookup: { operation: 'company.profile' } })
    const facts = { 'company.profile': found({ description: 'Other ropes' }) }
    expect(step(facts, () => true)).toEqual({ kind: 'write', values: { description: 'Other ropes' } })
  })

  test('is looked up for another field that is open', () => {
    const other = { ...recipe, fields: [...recipe.fields, 'city'] }
    expect(nextStep({ object: 'company', identity: acme, closed }, other, {})).toMatchObject({
      kind: 'lookup',
    })
  })
})
