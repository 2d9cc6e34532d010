import { expect, test } from 'vitest'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import { publishedCatalogue } from '../catalogue/catalogue.ts'
import { createScreen } from './screen-page.ts'
import { readPage } from './read-answer.ts'

const freshUntil = new Date(0)
const company = (id: number, more: object = {}) => ({
  domain_search_id: `c${id}`,
  domain: `firm${id}.example`,
  ...more,
})
const page = (rows: unknown[], total = rows.length): StoredAnswer => ({
  outcome: 'found',
  data: { data: { companies: rows, pagination: { total_entries: total } }, metadata: { ignored_fields: [] } },
  freshUntil,
})

/** Suppresses these values, of whatever kind. */
const screenOf = (...values: string[]) =>
  createScreen({
    catalogue: publishedCatalogue,
    suppressed: async (subjects) =>
      new Set(
        subjects.flatMap((each, index) => (each.some(({ value }) => values.includes(value)) ? [index] : [])),
      ),
  })

test('a suppressed row is not stored, and the page keeps its size, its order and its total', async () => {
  const answer = page([company(1), company(2, { company_name: 'Gone Ltd' }), company(3)], 40)
  const kept = await screenOf('firm2.example')('company.search', answer)
  expect(JSON.stringify(kept)).not.toMatch(/firm2|Gone/)
  const read = readPage(publishedCatalogue.of('company.search'), kept.data)
  expect(read).toMatchObject({ total: 40, arrived: 3, dropped: { suppressed: 1 }, drift: [] })
  expect(read.rows.map(({ domain }) => domain)).toEqual(['firm1.example', 'firm3.example'])
  expect(JSON.stringify(answer)).toContain('firm2')
})

test('people go with the domain of their employer, with their profile, and with their e-mail', async () => {
  const rows = [
    { people_search_id: '1', name: 'Ann', domain: 'www.firm1.example' },
    { people_search_id: '2', name: 'Bob', profnet_url: 'https://www.profnet.com/in/Bob/?x=1' },
    { people_search_id: '3', name: 'Cy', email: 'Cy@Else.example' },
    { people_search_id: '4', name: 'Di', domain: 'other.example' },
  ]
  const data = { data: { peoples: rows, pagination: { total_entries: 4 } } }
  const answer: StoredAnswer = { outcome: 'found', data, freshUntil }
  const screen = screenOf('firm1.example', 'profnet.com/in/bob', 'cy@else.example')
  const kept = await screen('people.search', answer)
  const read = readPage(publishedCatalogue.of('people.search'), kept.data)
  expect(read).toMatchObject({ arrived: 4, dropped: { suppressed: 3 }, rows: [{ name: 'Di' }] })
})

test('the rows of jobs and the like go with the company that they are about', async () => {
  const rows = [
    { job_search_id: '1', domain: 'firm1.example' },
    { job_search_id: '2', domain: 'b.example' },
  ]
  const data = { data: { jobs: rows, pagination: { total_entries: 2 } } }
  const kept = await screenOf('firm1.example')('job.search', { outcome: 'found', data, freshUntil })
  expect(readPage(publishedCatalogue.of('job.search'), kept.data)).toMatchObject({
    dropped: { suppressed: 1 },
    rows: [{ job_search_id: '2' }],
  })
})

test('an answer without suppressed rows, of a lookup, or that cannot be read is the same one', async () => {
  const screen = screenOf('firm1.example')
  const others: StoredAnswer[] = [
    page([company(3)]),
    { outcome: 'unreadable', data: { raw: 'firm1.example' }, freshUntil },
    { outcome: 'found', data: { data: { companies: null } }, freshUntil },
  ]
  for (const answer of others) expect(await screen('company.search', answer)).toBe(answer)
  const record: StoredAnswer = { outcome: 'found', data: { domain: 'firm1.example' }, freshUntil }
  expect(await screen('company.lookup', record)).toBe(record)
})

test('where the suppression list cannot be read nothing is let through', async () => {
  const screen = createScreen({
    catalogue: publishedCatalogue,
    suppressed: () => Promise.reject(new Error('away')),
  })
  await expect(screen('company.search', page([company(1)]))).rejects.toThrow('away')
})
