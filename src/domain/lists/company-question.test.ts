import { expect, test } from 'vitest'
import { companyQuestion } from './company-question.ts'
import { listRowOf } from './list-row.ts'

const row = (cells: Record<string, unknown>) =>
  listRowOf('company', cells, { page: 1, idName: 'domain_search_id' })

test('people are searched for by the domain of their company', () => {
  expect(
    companyQuestion(row({ domain: 'https://www.norvik.com/about', domain_search_id: 'ds-1' }), {
      perCompany: 3,
      levels: ['C-Level'],
      departments: ['Finance'],
      titles: ['CFO'],
    }),
  ).toEqual({
    domains: ['norvik.com'],
    management_levels: ['C-Level'],
    departments: ['Finance'],
    people_titles: ['CFO'],
    per_page: 3,
  })
})

test('a company without a domain of its own is named by its id, and without both nobody is searched for', () => {
  const wanted = { perCompany: 1 }
  expect(companyQuestion(row({ domain: 'gmail.com', domain_search_id: 'ds-1' }), wanted)).toEqual({
    domain_search_ids: ['ds-1'],
    per_page: 1,
  })
  expect(companyQuestion(row({ company_name: 'Norvik' }), wanted)).toBeUndefined()
})
