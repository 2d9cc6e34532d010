import { expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { taughtWords } from './taught-words.ts'

const catalogue = createCatalogue()
const told = (operation: Parameters<typeof catalogue.of>[0], answer: unknown) =>
  taughtWords(catalogue.of(operation), answer).map(({ vocabulary, word }) => `${vocabulary}: ${word}`)

test('the words of lists are learned, each once, and nothing else of a row', () => {
  const jobs = [
    {
      job_search_id: '1',
      functions: ['Sales', 'Research & Development'],
      seniority_rank: 'Senior',
      title: 'Jane Doe',
    },
    { job_search_id: '2', functions: ['Sales'], seniority_rank: null },
    'no row',
  ]
  expect(told('job.search', { data: { jobs, company: 'Acme' } })).toEqual([
    'job_functions: Sales',
    'job_functions: Research & Development',
    'seniority_ranks: Senior',
  ])
  expect(
    told('expansion.search', {
      data: { expansions: [{ stage: { name: 'Scaling', direction: 'retreating' } }] },
    }),
  ).toEqual(['stages: Scaling'])
})

test.each([
  'jane@acme.example',
  'https://acme.example',
  '+49 30 9018201',
  'a sentence that goes on for longer than a word of a list does',
  'x'.repeat(61),
  '<b>Sales</b>',
  '',
  '  ',
])('%j is no word of a list', (value) => {
  expect(told('job.search', { data: { jobs: [{ functions: [value] }] } })).toEqual([])
})

test('an operation that teaches nothing, and an answer in another form, teach nothing', () => {
  expect(told('company.profile', { data: { industry: 'Software' } })).toEqual([])
  for (const answer of [null, [], 'x', { data: null }, { data: { jobs: { functions: ['Sales'] } } }])
    expect(told('job.search', answer)).toEqual([])
})
