import { describe, expect, test } from 'vitest'
import type { Identity } from '../record.ts'
import { recordName } from './record-name.ts'
import { readSearch } from './search-query.ts'
import { searchWords } from './search-words.ts'

const ann: Identity = {
  firstName: 'Ånn-Marie',
  lastName: 'O’Brien',
  company: 'ACME Tools GmbH',
  email: 'Ann <Ann@Mail.Acme.com>',
  profileUrl: 'https://de.profnet.com/in/Ann-OBrien/?trk=1',
  domain: 'https://www.acme.com/de',
  phone: '+49 (30) 123456',
}

/** Returns true where a search finds a record, as the ledger does it. */
function finds(text: string, identity: Identity, object: 'person' | 'company' = 'person'): boolean {
  const words = searchWords(object, identity, null)
  return readSearch(text).anyOf.some((terms) =>
    terms.every((term) =>
      words.some((word) => (term.isBeginning ? word.startsWith(term.text) : word === term.text)),
    ),
  )
}

describe('a record is found', () => {
  test.each([
    'ann',
    'Ann-Marie',
    'OBRIEN',
    "o'brien ann",
    'marie acme',
    'ann@mail.acme.com',
    'ANN@MAIL.ACME.COM',
    'ann@mail',
    'mail.acme.com',
    'acme.com',
    'www.acme.com/imprint',
    'http://www.profnet.com/in/ann-obrien',
    'profnet.com/in/ANN-OBRIEN/?x=y',
    'https://uk.profnet.example/in/ann-obrien/details',
    'in/ann-obrien',
    '/in/ann-obrien/',
    '+49 30 123456',
  ])('by %j', (text) => expect(finds(text, ann)).toBe(true))

  test.each([
    'bob',
    'marie bob',
    'nn',
    'ann@acme.com',
    'cme.com',
    'in/ann',
    'company/ann-obrien',
    '+49 30 1234567',
  ])('and not by %j', (text) => expect(finds(text, ann)).toBe(false))

  test('by what a lookup has found for it', () => {
    const patch = { email: { set: 'ann@found.example' }, full_name: { set: 'Ann Lee' }, city: { set: 'Ulm' } }
    const words = searchWords('person', { profileUrl: 'https://profnet.com/in/ann' }, patch)
    expect(words).toEqual(
      expect.arrayContaining(['ann', 'lee', 'ann@found.example', 'found.example', '/in/ann']),
    )
    expect(words).not.toContain('ulm')
  })

  test('in any script, by the beginning of a word', () => {
    expect(finds('山田', { firstName: '太郎', lastName: '山田花' })).toBe(true)
    expect(finds('محمد', { firstName: 'محمد' })).toBe(true)
    expect(finds('STRASSE', { company: 'Straße 9' })).toBe(true)
  })
})

test('hostile values give few and short words, in a short time', () => {
  const long = 'x'.repeat(5_000)
  const words = searchWords(
    'person',
    { firstName: long, lastName: 'ab '.repeat(5_000), email: `${long}@${long}.com` },
    null,
  )
  expect(words.length).toBeLessThanOrEqual(60)
  expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(200)
  expect(finds(long.slice(0, 500), { firstName: long })).toBe(true)
})

test('a domain may also be the beginning of a name', () => {
  expect(readSearch('node.js').anyOf).toContainEqual([
    { text: 'node', isBeginning: true },
    { text: 'js', isBeginning: true },
  ])
})

test('a profile is asked for under every host, and a text is also an id', () => {
  expect(readSearch('https://profnet.com/company/Acme').names).toEqual([
    'profnet.com/company/acme',
    'profnet.example/company/acme',
  ])
  expect(readSearch(' 123 ')).toMatchObject({ recordId: '123' })
  expect(readSearch('  ').anyOf).toEqual([])
})

test.each([
  [{ firstName: 'Ann', lastName: 'Lee', company: 'Acme' }, 'Ann Lee, Acme'],
  [{ lastName: 'Lee' }, 'Lee'],
  [{ company: 'Acme', domain: 'acme.com' }, 'Acme'],
  [{ email: 'ann@acme.com' }, 'ann@acme.com'],
  [{}, undefined],
])('%j is called %j', (identity, name) => expect(recordName(identity)).toBe(name))
