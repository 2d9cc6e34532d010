import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../keys.ts'
import { asksUnderTaughtNames, kindOfName, namedBy, sameQuestions } from './names.ts'
import { identifiersOfKey } from './traces.ts'

const hosts = ['profnet.com', 'profnet.example']
const questions = (key: string, taught: Record<string, string[]> = {}) =>
  sameQuestions(key as LookupKey, hosts, (name) => taught[name] ?? []).map(({ key: other, needs }) => [
    other,
    needs,
  ])

describe('a lookup is the same question under another name', () => {
  test.each([
    ['person.profile|profnet.com/in/ada', 'person.profile|profnet.example/in/ada'],
    ['company.profile|profnet.example/company/acme', 'company.profile|profnet.com/company/acme'],
    ['company.enrich|profnet.com/company/a|b', 'company.enrich|profnet.example/company/a|b'],
    ['contact.redeem|profnet.com/in/a|b|phone', 'contact.redeem|profnet.example/in/a|b|phone'],
  ])('of the network: %s', (key, other) => expect(questions(key)).toEqual([[other, 'any']]))

  test.each([
    'person.profile|other.example/in/ada',
    'contact.lookup|email:ada@profnet.com',
    'contact.redeem|id:ps-1|phone',
    'contact.redeem|forgotten:0',
    'company.lookup|acme.com',
    'company.logo|profnet.com',
    'bundle|1',
    'person.profile|',
  ])('and %s has none', (key) => expect(questions(key)).toEqual([]))
})

describe('with any answer', () => {
  const any = (key: string, taught: Record<string, string[]>) =>
    questions(key, taught).filter(([, needs]) => needs === 'any')
  const names = [
    'profnet.com/in/ada',
    'profnet.com/in/a-lovelace',
    'profnet.com/company/acme',
    'acme.com',
    'id:1',
  ]
  const operations = ['person.profile', 'company.profile', 'company.lookup', 'company.enrich'] as const
  const keys = operations.flatMap((operation) => names.map((name) => `${operation}|${name}` as LookupKey))

  test.each(keys)('%s has the same others whatever was taught', (key) => {
    expect(asksUnderTaughtNames(key)).toBe(false)
    const everything = Object.fromEntries(names.map((name) => [name, names]))
    expect(any(key, everything)).toEqual(any(key, {}))
  })

  test('a contact has those of each name that was taught', () => {
    const key = 'contact.redeem|profnet.com/in/ada|phone' as LookupKey
    expect(asksUnderTaughtNames(key)).toBe(true)
    expect(any(key, { 'profnet.com/in/ada': ['id:1'] })).toContainEqual(['contact.redeem|id:1|phone', 'any'])
  })
})

describe('a further identifier of a company', () => {
  const page = 'tiktok_url:tiktok.com/@acme'
  const taught = { [page]: ['profnet.com/company/acme', 'acme.com'], 'acme.com': [page] }

  test('names it as its domain does, once an answer has said whose it is', () => {
    expect(questions(`company.lookup|${page}`)).toEqual([])
    expect(questions(`company.lookup|${page}`, taught)).toEqual([
      ['company.profile|profnet.com/company/acme', 'found'],
      ['company.profile|profnet.example/company/acme', 'found'],
      ['company.lookup|acme.com', 'found'],
    ])
    expect(questions('company.lookup|acme.com', taught)).toEqual([[`company.lookup|${page}`, 'found']])
    expect(questions('company.enrich|acme.com', taught)).toEqual([[`company.enrich|${page}`, 'found']])
  })

  test.each(['tw104_url:104.com.tw/company/1a2b', 'domain_search_id:in/x'])(
    'is no profile, whatever its path is: %s',
    (name) => {
      expect(kindOfName(name)).toBe('page')
      expect(identifiersOfKey(`company.lookup|${name}` as LookupKey)).toEqual([])
    },
  )
})

test('a contact type is no part of the name, and a key without one names nobody', () => {
  expect(namedBy('contact.redeem|id:a|b|phone' as LookupKey)).toEqual({
    operation: 'contact.redeem',
    name: 'id:a|b',
    type: 'phone',
  })
  for (const key of ['contact.redeem|phone', 'contact.redeem|a|fax', 'contact.redeem||phone'])
    expect(namedBy(key as LookupKey)).toBeUndefined()
})
