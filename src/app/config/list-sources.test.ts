import { expect, test } from 'vitest'
import { describeIssues } from './describe-issues.ts'
import { listsSchema } from './lists.ts'

const into = { connector: 'hubspot', entity: 'companies' }
const similar = { search: 'company.similar', filters: {}, into }
const crm = { connector: 'hubspot', filter: 'lifecyclestage=customer', top: 50, by: 'annualrevenue' }

function faultOf(list: object): string | undefined {
  const { error } = listsSchema.safeParse({ dach: list })
  return error && describeIssues(listsSchema, error.issues)
}

test.each([
  [{ ...similar, like: crm }],
  [{ ...similar, like: { ...crm, filter: ['lifecyclestage=customer', 'domain!='] } }],
  [{ ...similar, like: { csv: 'best.csv', minScore: 0.02, pages: 2 } }],
  [{ ...similar, like: { domains: ['norvik.com'], profiles: ['profnet.com/company/a'], ids: ['ds-1'] } }],
  [{ ...similar, search: 'people.similar', like: { profiles: ['profnet.com/in/ann'] } }],
  [{ ...similar, search: 'company.search', people: { perCompany: 3, levels: ['C-Level'] } }],
  [{ ...similar, like: { domains: ['norvik.com'] }, people: { perCompany: 25, companies: 100 } }],
  [{ ...similar, search: 'expansion.search', filters: { query: 'German companies expanding into Spain' } }],
])('%j is a list', (list) => {
  expect(faultOf(list)).toBeUndefined()
})

test.each([
  [{ ...similar, like: {} }, 'dach.like: names no references'],
  [
    { ...similar, like: { csv: 'a.csv', domains: ['a.com'] } },
    'dach.like: takes references from one place, and names csv and domains',
  ],
  [
    { ...similar, like: { ...crm, csv: 'a.csv' } },
    'dach.like: takes references from one place, and names connector and csv',
  ],
  [{ ...similar, like: { connector: 'hubspot' } }, 'dach.like: takes its references out of all records'],
  [{ ...similar, like: { csv: 'a.csv', top: 5 } }, 'dach.like.top: belongs to references out of a CRM'],
  [{ ...similar, like: { ...crm, filter: 'customers' } }, 'dach.like.filter: must be PROPERTY=VALUE'],
  [{ ...similar, like: { ...crm, top: 0 } }, 'dach.like.top: '],
  [{ ...similar, like: { ...crm, connector: 'abacus' } }, 'dach.like.connector: '],
  [{ ...similar, like: { domains: [] } }, 'dach.like.domains: '],
  [{ ...similar, like: { domain: ['a.com'] } }, 'dach.like.domain is not a setting; did you mean domains?'],
  [
    { ...similar, search: 'company.search', like: crm },
    'dach.like: belongs to a search of company.similar or people.similar',
  ],
  [
    { ...similar, filters: { domain: 'a.com' }, like: crm },
    'dach.filters.domain: names a reference, and like does already',
  ],
  [
    { ...similar, search: 'people.similar', like: { domains: ['a.com'] } },
    'dach.like.domains: name no people',
  ],
  [
    { ...similar, search: 'people.similar', like: { ids: ['a'], minScore: 2 } },
    'dach.like.minScore: is above 1',
  ],
  [
    { ...similar, like: crm, partitions: [{ countries: ['DE'] }] },
    'dach.partitions: divide no list with like',
  ],
  [
    { ...similar, search: 'people.search', people: { perCompany: 3 } },
    'dach.people: belongs to a search of companies',
  ],
  [{ ...similar, search: 'company.search', people: { perCompany: 0 } }, 'dach.people.perCompany: '],
  [{ ...similar, search: 'company.search', people: { perCompany: 26 } }, 'dach.people.perCompany: '],
  [{ ...similar, search: 'company.search', people: {} }, 'dach.people.perCompany: '],
  [
    { ...similar, search: 'company.search', people: { perCompany: 1 }, requires: ['founded_year'] },
    'dach.requires: there is no field founded_year',
  ],
])('%j is refused with its place', (list, message) => {
  expect(faultOf(list)).toContain(message)
})
