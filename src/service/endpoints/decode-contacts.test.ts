import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { contactLookup } from './contact-lookup.ts'
import type { ContactEntry } from './contact-entry.ts'
import { decodeContacts } from './decode-contacts.ts'

const [ada, bo, cy]: ContactEntry[] = [
  { email: 'ada@a.example' },
  { phone: '+49 151 2345678' },
  { first_name: 'Cy', last_name: 'Young', company: 'Acme' },
]
const entries = [ada!, bo!, cy!]
const missing = { outcome: 'not_found', data: null }
const matched = (input_index: number | null, id: string | null, match: object = {}) => ({
  match: { input_index, confidence: 'exact', is_duplicate_input: false, ...match },
  people_search_id: id,
})
const answer = (...peoples: unknown[]) => JSON.stringify({ data: { peoples } })

/** Returns for each entry the id that was found, or its outcome. */
function ids(body: string, asked = entries) {
  const facts = decodeContacts(body, asked)
  expect([...facts.keys()]).toEqual([...asked.keys()])
  return [...facts.values()].map(({ outcome, data }) =>
    outcome === 'found' ? data?.['people_search_id'] : outcome,
  )
}

describe('people are assigned to entries', () => {
  test.each<[string, string, unknown[]]>([
    ['by input_index, not by order', answer(matched(2, 'c'), matched(0, 'a')), ['a', 'not_found', 'c']],
    [
      'when the list is at the top level',
      JSON.stringify({ peoples: [matched(1, 'b')] }),
      ['not_found', 'b', 'not_found'],
    ],
    [
      'when the list is data itself',
      JSON.stringify({ data: [matched(1, 'b')] }),
      ['not_found', 'b', 'not_found'],
    ],
    ['nowhere when nothing is found', answer(), ['not_found', 'not_found', 'not_found']],
    ['nowhere when data is null', '{"data":null}', ['not_found', 'not_found', 'not_found']],
    ['nowhere when peoples is null', '{"data":{"peoples":null}}', ['not_found', 'not_found', 'not_found']],
    [
      'to none of them when a match names no person',
      answer(matched(0, null)),
      ['not_found', 'not_found', 'not_found'],
    ],
    [
      'the surer before the less sure',
      answer(
        matched(0, 'company', { confidence: 'similarity_company' }),
        matched(0, 'domain', { confidence: 'similarity_domain' }),
        matched(0, 'exact'),
      ),
      ['exact', 'not_found', 'not_found'],
    ],
    [
      'by what was searched, in an answer without positions',
      answer(
        matched(null, 'c', { input: { value: 'CY YOUNG, Acme', type: 'name' } }),
        matched(null, 'b', { input: { value: '+491512345678', type: 'phone' } }),
        matched(null, 'a', { input: { value: 'Ada@A.example', type: 'email' } }),
      ),
      ['a', 'b', 'c'],
    ],
    ['an id that is a number', answer(matched(0, 7 as never)), ['7', 'not_found', 'not_found']],
  ])('%s', (_, body, expected) => expect(ids(body)).toEqual(expected))

  test.each([
    ['a position outside the request', answer(matched(3, 'x'), matched(0, 'a'))],
    ['a negative position', answer(matched(-1, 'x'), matched(0, 'a'))],
    ['no position and nothing that was searched', answer(matched(null, 'x'), matched(0, 'a'))],
    ['no match at all', answer({ people_search_id: 'x' }, matched(0, 'a'))],
    ['nothing but a text', answer('x', matched(0, 'a'))],
  ])('to none of them with %s: then no other entry counts as not found', (_, body) => {
    expect(ids(body)).toEqual(['a', 'unreadable', 'unreadable'])
  })

  test('with the count of the other people who match', () => {
    const body = answer(
      matched(0, 'a'),
      matched(0, 'b', { confidence: 'similarity_domain' }),
      matched(0, 'a'),
    )
    expect(decodeContacts(body, entries).get(0)?.data).toMatchObject({
      people_search_id: 'a',
      other_matches: 1,
    })
  })
})

describe('an entry that repeats another', () => {
  const twice = [ada!, bo!, { email: ' ADA@a.example'.trim() }]

  test.each<[string, string]>([
    [
      'flagged, with the person again',
      answer(matched(0, 'a'), matched(2, 'a', { is_duplicate_input: true })),
    ],
    ['flagged, without the person', answer(matched(2, null, { is_duplicate_input: true }), matched(0, 'a'))],
    ['not answered at all', answer(matched(0, 'a'))],
  ])('has the fact of the first: %s', (_, body) => {
    expect(ids(body, twice)).toEqual(['a', 'not_found', 'a'])
  })

  test('is a miss when the first one is', () => {
    expect(ids(answer(), twice)).toEqual(['not_found', 'not_found', 'not_found'])
  })

  test('that only the service counts as a repetition keeps its own person', () => {
    const body = answer(matched(0, 'a'), matched(1, 'a', { is_duplicate_input: true }))
    expect(ids(body)).toEqual(['a', 'a', 'not_found'])
  })

  test('that repeats no sent entry is unreadable, not a miss', () => {
    expect(ids(answer(matched(1, null, { is_duplicate_input: true })))).toEqual([
      'not_found',
      'unreadable',
      'not_found',
    ])
  })
})

test.each(['', 'no json', 'null', '[]', '7', '{}', '{"data":7}', '{"data":{}}', '{"dat'])(
  'the paid answer %j is stored once, unchanged',
  (body) => {
    const facts = decodeContacts(body, entries)
    expect(facts.get(0)).toMatchObject({ outcome: 'unreadable', data: { raw: body } })
    expect([1, 2].map((index) => facts.get(index)?.outcome)).toEqual(['unreadable', 'unreadable'])
  },
)

test('a person that does not fit the schema does not affect the others', () => {
  const body = answer({ match: { input_index: 1 }, emails: 'none' }, matched(0, 'a'))
  expect(ids(body)).toEqual(['a', 'unreadable', 'not_found'])
})

test('null, absent and empty lists of a contact stay what they are', () => {
  const body = answer({ ...matched(0, 'a'), emails: null }, { ...matched(1, 'b'), emails: [], phones: [] })
  const facts = decodeContacts(body, entries)
  expect(facts.get(0)?.data).toHaveProperty('emails', null)
  expect(facts.get(0)?.data).not.toHaveProperty('phones')
  expect(facts.get(1)?.data).toMatchObject({ emails: [], phones: [] })
})

test('a single answer needs no position', () => {
  expect(contactLookup.decode(answer({ people_search_id: 'a' }))).toMatchObject({ outcome: 'found' })
  expect(contactLookup.decode(JSON.stringify({ data: matched(0, 'a') }))).toMatchObject({ outcome: 'found' })
  expect(contactLookup.decode(answer())).toEqual(missing)
  expect(contactLookup.decode('{"data":null}')).toEqual(missing)
})

test('every entry gets a fact for any body, and nothing is thrown', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        match: fc.oneof(
          fc.jsonValue(),
          fc.record({ input_index: fc.oneof(fc.integer({ min: -1, max: 4 }), fc.jsonValue()) }),
        ),
        people_search_id: fc.oneof(fc.string(), fc.constant(null)),
      },
      { requiredKeys: [] },
    ),
  )
  fc.assert(
    fc.property(fc.array(value), (peoples) => {
      const facts = decodeContacts(JSON.stringify({ data: { peoples } }), entries)
      expect([...facts.keys()]).toEqual([0, 1, 2])
      for (const fact of facts.values()) expect(['found', 'not_found', 'unreadable']).toContain(fact.outcome)
    }),
    { seed: testSeed() },
  )
})
