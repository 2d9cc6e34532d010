import { expect, test } from 'vitest'
import { listRowOf } from './list-row.ts'
import { distinctReferences, referenceTest, type GivenReference } from './references.ts'

const companies = (given: Partial<GivenReference>[]) =>
  distinctReferences(
    'company',
    given.map((each, at) => ({ place: `line ${at + 2}`, identity: {}, ...each })),
  )
const profile = 'https://www.profnet.com/company/norvik'

test('a reference in several spellings is asked once, by its profile', () => {
  const { references, repeated } = companies([
    { identity: { domain: 'https://WWW.Norvik.com/about' } },
    { identity: { domain: 'norvik.com', profileUrl: 'profnet.com/company/NORVIK/' } },
    { identity: { profileUrl: 'http://de.profnet.com/company/norvik?x=1', company: 'Norvik Ltd' } },
    { identity: { domain: 'shop.norvik.com' } },
  ])
  expect(references).toMatchObject([{ name: 'Norvik Ltd', question: { profnet_url: profile } }])
  expect(repeated).toBe(3)
})

test('two companies of one domain with different profiles are two', () => {
  const { references } = companies([
    { identity: { domain: 'norvik.com', profileUrl: profile } },
    { identity: { domain: 'norvik.com', profileUrl: `${profile}-labs` } },
    { identity: { domain: 'norvik.com' } },
  ])
  expect(references.map(({ question }) => question['profnet_url'])).toEqual([profile, `${profile}-labs`])
})

test('what names no company is skipped with its place', () => {
  const { references, skipped } = companies([
    { identity: { company: 'Norvik' } },
    { identity: { domain: 'gmail.com' } },
    { identity: { domain: 'norvik.com' }, fault: 'too few cells' },
    { identity: { companyId: 'ds-9' } },
  ])
  expect(references.map(({ question }) => question)).toEqual([{ domain_search_id: 'ds-9' }])
  expect(skipped).toEqual([
    { place: 'line 2', reason: 'it has no profile, id or domain of its own that can be asked with' },
    { place: 'line 3', reason: 'it has no profile, id or domain of its own that can be asked with' },
    { place: 'line 4', reason: 'too few cells' },
  ])
})

test('a person is asked by profile, else by id, and not by the domain of an employer', () => {
  const { references, skipped } = distinctReferences('person', [
    { place: 'a', identity: { domain: 'norvik.com', firstName: 'Ann', lastName: 'Lee' } },
    { place: 'b', identity: {}, personId: 'ps-1' },
    { place: 'c', identity: {}, personId: 'ps-1' },
    { place: 'd', identity: { profileUrl: 'profnet.com/in/ann', firstName: 'Ann', lastName: 'Lee' } },
  ])
  expect(references.map(({ name, question }) => [name, question])).toEqual([
    ['ps-1', { people_search_id: 'ps-1' }],
    ['Ann Lee', { profnet_url: 'https://www.profnet.com/in/ann' }],
  ])
  expect(skipped.map(({ place }) => place)).toEqual(['a'])
})

test('a row is a reference by its profile, id or domain, and not beside another profile', () => {
  const { references } = companies([
    { identity: { domain: 'norvik.com', profileUrl: profile } },
    { identity: { domain: 'alone.com' } },
    { identity: { companyId: 'ds-9' } },
  ])
  const isReference = referenceTest(references)
  const row = (cells: Record<string, unknown>) =>
    isReference(listRowOf('company', cells, { page: 1, idName: 'domain_search_id' }))
  expect(row({ profnet_url: 'http://profnet.com/company/Norvik/', domain_search_id: 'x' })).toBe(true)
  expect(row({ domain: 'www.norvik.com', domain_search_id: 'x' })).toBe(true)
  expect(row({ domain: 'norvik.com', profnet_url: `${profile}-labs`, domain_search_id: 'x' })).toBe(false)
  expect(row({ domain: 'shop.alone.com', profnet_url: `${profile}-2`, domain_search_id: 'x' })).toBe(true)
  expect(row({ company_name: 'Any', domain_search_id: 'ds-9' })).toBe(true)
  expect(row({ domain: 'other.com', domain_search_id: 'x' })).toBe(false)
  const people = distinctReferences('person', [{ place: 'a', identity: {}, personId: 'ps-1' }]).references
  const person = (id: string) =>
    referenceTest(people)(
      listRowOf('person', { people_search_id: id }, { page: 1, idName: 'people_search_id' }),
    )
  expect([person('ps-1'), person('ps-2')]).toEqual([true, false])
})
