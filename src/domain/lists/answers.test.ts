import { expect, test } from 'vitest'
import { agreedAnswer, answerNames, anotherRow, type RowAnswer } from './answers.ts'
import { listRowOf } from './list-row.ts'
import { identityText, judgeRows, type MatchedRecord } from './verdicts.ts'

const profile = 'https://www.profnet.com/company/acme'
const row = (values: Record<string, unknown>, id = 'a') =>
  listRowOf('company', { ...values, domain_search_id: id }, { page: 1, idName: 'domain_search_id' })
const record = (recordId: string): MatchedRecord => ({ entity: 'companies', recordId })
const same = (id: string | null): RowAnswer => ({
  answer: 'same',
  record: id === null ? null : record(id),
  shown: [],
})
const fresh = (...shown: string[]): RowAnswer => ({ answer: 'new', record: null, shown })
const never: RowAnswer = { answer: 'never', record: null, shown: [] }

/** Judges one row against records by the text of an identity. */
function judged(
  values: Record<string, unknown>,
  answer: RowAnswer,
  records: Record<string, string[]>,
  more: { profiles?: Record<string, string[]>; requires?: string[] } = {},
) {
  const [found] = judgeRows([row(values)], {
    recordsWith: (identity) => (records[identityText(identity)] ?? []).map(record),
    profilesOf: ({ recordId }) => more.profiles?.[recordId] ?? [],
    suppressed: new Set(),
    excluded: new Set(),
    requires: more.requires ?? [],
    answerTo: () => answer,
  })
  return [found?.verdict, ...(found?.records ?? []).map(({ recordId }) => recordId)].join(' ')
}

const named = { company_name: 'Acme', profnet_url: profile }
const byName = { 'name|acme': ['1'] }

test.each([
  ['same decides over a record by name alone', named, same('1'), byName, 'exists 1'],
  ['same decides between several', named, same('2'), { 'profile|company/acme': ['1', '2'] }, 'exists 2'],
  ['same waits again when its record is gone', named, same(null), {}, 'ambiguous'],
  ['new holds over the records that were shown', named, fresh('1'), byName, 'new'],
  [
    'new waits again for a record that was not shown',
    named,
    fresh('1'),
    { 'name|acme': ['1', '2'] },
    'possible 1 2',
  ],
  [
    'new gives way to a record found for certain',
    named,
    fresh('1'),
    { 'profile|company/acme': ['1'] },
    'exists 1',
  ],
  [
    'new never stands against a profile',
    named,
    fresh('1', '2'),
    { 'profile|company/acme': ['1', '2'] },
    'ambiguous 1 2',
  ],
  [
    'same gives way to a record found for certain',
    named,
    same('1'),
    { 'profile|company/acme': ['2'] },
    'exists 2',
  ],
  ['never leaves out what is new', named, never, {}, 'excluded'],
  ['never leaves out what exists', named, never, { 'profile|company/acme': ['1'] }, 'excluded'],
] as const)('%s', (_, values, answer, records, verdict) =>
  expect(judged(values, answer, records as unknown as Record<string, string[]>)).toBe(verdict),
)

test('new holds for another profile at the domain of a record, and needs the required fields all the same', () => {
  const values = { ...named, domain: 'acme.example' }
  const records = { 'domain|acme.example': ['1'] }
  const profiles = { 1: ['company/acme-labs'] }
  expect(judged(values, fresh('1'), records, { profiles })).toBe('new')
  expect(judged(values, fresh('1'), records, { profiles, requires: ['industry'] })).toBe('incomplete')
})

test('a row beside another of its domain is new only when the other row was shown', () => {
  const rows = [
    row({ ...named, domain: 'acme.example' }, 'a'),
    row({ domain: 'acme.example', profnet_url: `${profile}-labs` }, 'b'),
  ]
  const verdicts = (answer: RowAnswer) =>
    judgeRows(rows, {
      recordsWith: () => [],
      profilesOf: () => [],
      suppressed: new Set(),
      excluded: new Set(),
      requires: [],
      answerTo: ({ serviceId }) => (serviceId === 'b' ? answer : undefined),
    }).map(({ verdict }) => verdict)
  expect(verdicts(fresh('1'))).toEqual(['new', 'ambiguous'])
  expect(verdicts(fresh(anotherRow))).toEqual(['new', 'new'])
})

test('an answer is kept by the surest names, and by the id of a search only where there is none', () => {
  const id = 'service_id|domain_search_id:a'
  expect(answerNames(row({ ...named, domain: 'acme.example' }), 'company.search')).toEqual([
    'profile|company/acme',
    id,
  ])
  expect(answerNames(row({ domain: 'www.acme.example' }), 'company.search')).toEqual([
    id,
    'domain|acme.example',
  ])
  const person = listRowOf(
    'person',
    { name: 'Ann Lee', people_search_id: 7 },
    { page: 1, idName: 'people_search_id' },
  )
  expect(answerNames(person, 'people.search')).toEqual(['row|people.search|7'])
})

test('of answers that differ none holds but never', () => {
  expect(agreedAnswer([])).toBeUndefined()
  expect(agreedAnswer([same('1'), same('1')])).toEqual(same('1'))
  expect(agreedAnswer([same('1'), same('2')])).toBeUndefined()
  expect(agreedAnswer([same('1'), fresh('1')])).toBeUndefined()
  expect(agreedAnswer([same('1'), never])).toEqual(never)
  expect(agreedAnswer([fresh('1', '2'), fresh('2')])).toEqual(fresh('2'))
})
