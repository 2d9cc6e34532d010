import { describe, expect, test } from 'vitest'
import {
  boughtFieldNames,
  championFieldNames,
  employerFieldNames,
  employerValues,
  enrichmentFieldNames,
  enrichmentValues,
  fieldNames,
  isAnswered,
  matchFieldNames,
  matchValues,
  profileFieldNames,
  profileValues,
  signalFieldNames,
} from './fields.ts'

const company = {
  company_name: 'Acme',
  profnet_url: 'https://profnet.example/company/acme',
  domain: 'acme.example',
  company_url: 'https://acme.example',
  title: 'Robots for all',
  industry: 'Robots',
  description: 'Makes robots',
  company_size: 12,
  company_size_printed: '11-50',
  company_type: 'Privately Held',
  founded_year: 1998,
  headquarters: 'Lyon',
  company_address: '1 rue A, Lyon, Rhône 69002, FR',
  country_code: 'FR',
  follower_size: 7,
}
const companyValues = {
  company_name: 'Acme',
  profnet_url: 'https://profnet.example/company/acme',
  domain: 'acme.example',
  website: 'https://acme.example',
  tagline: 'Robots for all',
  industry: 'Robots',
  description: 'Makes robots',
  employees: 12,
  employee_range: '11-50',
  company_type: 'Privately Held',
  founded_year: 1998,
  headquarters: 'Lyon',
  address: '1 rue A, Lyon, Rhône 69002, FR',
  street: '1 rue A',
  city: 'Lyon',
  state: 'Rhône',
  postal_code: '69002',
  country_code: 'FR',
  followers: 7,
}
const person = {
  name: 'Ada Moreau',
  profnet_url: 'https://profnet.example/in/ada',
  headline: 'Engineer',
  employment_history: [{ title: 'Older name', positions: [{ title: 'CTO' }, { title: 'Engineer' }] }],
  company: { company_name: 'Acme', profnet_url: 'https://profnet.example/company/acme' },
  description: 'About Ada',
  city: 'Lyon',
  location: 'Lyon, France',
  country_code: 'FR',
  follower_size: 1,
  connection_size: 2,
}
const personValues = {
  full_name: 'Ada Moreau',
  first_name: 'Ada',
  last_name: 'Moreau',
  profnet_url: 'https://profnet.example/in/ada',
  headline: 'Engineer',
  job_title: 'CTO',
  company_name: 'Acme',
  company_profnet_url: 'https://profnet.example/company/acme',
  about: 'About Ada',
  city: 'Lyon',
  location: 'Lyon, France',
  country_code: 'FR',
  followers: 1,
  connections: 2,
}

describe('the values of an answer', () => {
  test('of a company, a person and an employer', () => {
    expect(profileValues('company', company)).toEqual(companyValues)
    expect(profileValues('person', person)).toEqual(personValues)
    expect(employerValues(company)).toEqual({
      company_domain: 'acme.example',
      company_website: 'https://acme.example',
      company_industry: 'Robots',
      company_employees: 12,
      company_country_code: 'FR',
    })
  })

  test('of an enrichment count what it lists, and name similar companies', () => {
    const lists = {
      jobs: [{}, {}],
      news: [{}],
      advertisements: [],
      similar_companies: [{ company_name: 'B' }, {}, null, { company_name: 'C' }],
    }
    expect(enrichmentValues({ ...company, ...lists })).toEqual({
      ...companyValues,
      open_jobs: 2,
      news_items: 1,
      similar_companies: 'B; C',
    })
  })

  test.each([
    [{ name: 'Ada Moreau', first_name: 'A' }, ['Ada Moreau', 'A', 'Moreau']],
    [{ first_name: 'Ada', last_name: 'Moreau' }, ['Ada Moreau', 'Ada', 'Moreau']],
    [{ first_name: 'Ada', last_name: ' ' }, ['Ada', 'Ada']],
    [{ name: 'Zoë  O’Brien-Lévy' }, ['Zoë  O’Brien-Lévy', 'Zoë', 'O’Brien-Lévy']],
    [{ name: 'Ada' }, ['Ada']],
    [{ name: 'Ada B. Moreau' }, ['Ada B. Moreau']],
    [{ name: 'Dr. Moreau' }, ['Dr. Moreau']],
    [{ name: 'Moreau, Ada' }, ['Moreau, Ada']],
    [{ name: '山田 太郎' }, ['山田 太郎']],
    [{ name: null, first_name: null, last_name: null }, []],
    [{}, []],
  ])('of a match %j name the person %j', (match, [name, first, last]) => {
    expect(
      matchValues({
        ...match,
        profnet_url: 'https://profnet.example/in/ada',
        title: 'CTO',
        company_name: 'Acme',
      }),
    ).toEqual({
      ...(name === undefined ? {} : { full_name: name }),
      ...(first === undefined ? {} : { first_name: first }),
      ...(last === undefined ? {} : { last_name: last }),
      profnet_url: 'https://profnet.example/in/ada',
      job_title: 'CTO',
      company_name: 'Acme',
    })
  })

  test.each([
    [[{ title: 'CTO' }], 'CTO'],
    [[{ title: 'CTO', positions: [] }], 'CTO'],
    [[{ title: 'Old', positions: [{ title: 'CTO' }] }], 'CTO'],
    [[{ title: 'CTO', positions: 'x' }], 'CTO'],
    [[], undefined],
    ['x', undefined],
    [[[]], undefined],
  ])('with the history %j have the title %s', (employment_history, title) => {
    expect(profileValues('person', { employment_history })).toEqual(
      title === undefined ? {} : { job_title: title },
    )
  })

  test.each([
    ['  Acme ', 'Acme'],
    [7, 7],
    [0, 0],
    [false, false],
    ['', undefined],
    [' \t', undefined],
    [null, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [['Acme'], undefined],
    [{ a: 1 }, undefined],
  ])('take %j as %s', (value, expected) => {
    expect(profileValues('company', { industry: value })).toEqual(
      expected === undefined ? {} : { industry: expected },
    )
  })
})

describe('what an answer covers', () => {
  test.each<['match' | 'company', string, object, boolean]>([
    ['match', 'full_name', { name: 'Ada' }, true],
    ['match', 'full_name', { name: null }, false],
    ['match', 'full_name', { name: null, first_name: null }, true],
    ['match', 'full_name', {}, false],
    ['match', 'first_name', { name: 'Ada B. Moreau' }, true],
    ['match', 'first_name', { first_name: null }, true],
    ['match', 'last_name', {}, false],
    ['match', 'job_title', { title: null }, true],
    ['match', 'city', { city: 'Lyon' }, false],
    ['company', 'industry', { industry: null }, true],
    ['company', 'industry', {}, false],
    ['company', 'open_jobs', { jobs: [] }, true],
    ['company', 'open_jobs', {}, false],
    ['company', 'similar_companies', { similar_companies: null }, true],
    ['company', 'nothing', { nothing: 1 }, false],
  ])('%s, %s of %j: %s', (source, name, answer, expected) => {
    expect(isAnswered(source, name, answer as Record<string, unknown>)).toBe(expected)
  })
})

test('names are in the order of reports', () => {
  expect(profileFieldNames('company')).toEqual(Object.keys(companyValues))
  expect(profileFieldNames('person')).toEqual(Object.keys(personValues))
  expect(enrichmentFieldNames).toEqual(['open_jobs', 'news_items', 'advertisements', 'similar_companies'])
  expect(matchFieldNames).toEqual([
    'full_name',
    'first_name',
    'last_name',
    'profnet_url',
    'job_title',
    'company_name',
  ])
  expect(employerFieldNames).toEqual([
    'company_domain',
    'company_website',
    'company_industry',
    'company_employees',
    'company_country_code',
    'company_logo',
  ])
  const bought = [...Object.keys(companyValues), 'logo', ...enrichmentFieldNames]
  expect(boughtFieldNames('company')).toEqual(bought)
  expect(fieldNames('company')).toEqual([
    ...bought,
    ...signalFieldNames.filter((name) => name !== 'open_jobs'),
  ])
  expect(fieldNames('person')).toEqual([
    ...Object.keys(personValues),
    'email',
    'email_personal',
    'phone',
    'mobile_phone',
    ...employerFieldNames,
    ...championFieldNames,
  ])
})

test('an address is divided by the country and headquarters of its own answer, whichever was read before', () => {
  const one = {
    company_address: '12 High St, Springfield, 12345',
    country_code: 'US',
    headquarters: 'Springfield',
  }
  const other = { ...one, country_code: 'GB', headquarters: 'High Wycombe' }
  const third = { ...one, headquarters: null }
  const alone = [one, other, third].map((answer) => profileValues('company', { ...answer }))
  expect(alone[0]).toMatchObject({ street: '12 High St', city: 'Springfield', postal_code: '12345' })
  expect(alone[1]).not.toHaveProperty('postal_code')
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
    [0, 0, 2],
  ])
    for (const each of order)
      expect(profileValues('company', [one, other, third][each]!)).toEqual(alone[each])
})
