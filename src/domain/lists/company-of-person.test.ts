import { describe, expect, test } from 'vitest'
import { companyOfPerson } from './company-of-person.ts'
import { listRowOf } from './list-row.ts'
import { judgeRows, type Known } from './verdicts.ts'
import { identityText, type MatchedRecord } from './judged-row.ts'

const person = (row: Record<string, unknown>) =>
  listRowOf(
    'person',
    { people_search_id: 'p1', name: 'Ada Lovelace', ...row },
    { page: 1, idName: 'people_search_id' },
  )

describe('the company of a person', () => {
  test.each([
    [
      { domain: 'https://www.Norvik.com/about', company_name: 'Norvik Ltd' },
      'domain|norvik.com',
      'norvik.com',
    ],
    [{ company_name: 'Norvik Ltd' }, 'name|norvik', undefined],
    // A mailbox provider is nobody's employer.
    [{ domain: 'gmail.com', company_name: 'Norvik Ltd' }, 'name|norvik', undefined],
    [{ domain: 'gmail.com' }, undefined, undefined],
    [{}, undefined, undefined],
  ])('of %j is %s', (row, serviceId, domain) => {
    const company = companyOfPerson(person(row))
    expect([company?.serviceId, company?.values['domain']]).toEqual([serviceId, domain])
  })

  test('is that at which the person was found, whatever the row names', () => {
    const at = listRowOf(
      'company',
      { domain_search_id: 7, domain: 'babbage.com' },
      { page: 1, idName: 'domain_search_id' },
    )
    const found = { ...at, key: '7' }
    expect(companyOfPerson({ ...person({ domain: 'norvik.com' }), company: found })?.serviceId).toBe(
      'domain|babbage.com',
    )
  })
})

describe('a person against the records of a CRM', () => {
  const lead = { entity: 'Lead', recordId: '00Q1' }
  const contact = { entity: 'Contact', recordId: '0031' }
  const known = (records: Record<string, readonly MatchedRecord[]>): Known => ({
    entity: 'Contact',
    recordsWith: (identity) => records[identityText(identity)] ?? [],
    profilesOf: () => [],
    suppressed: new Set(),
    excluded: new Set(),
    requires: [],
  })
  const row = person({ profnet_url: 'https://www.profnet.com/in/ada', domain: 'norvik.com' })

  test.each([
    ['the same profile', { 'profile|in/ada': [contact] }, 'exists', 'the same profile'],
    ['a lead, which is named', { 'profile|in/ada': [lead] }, 'exists', 'the same profile as Lead 00Q1'],
    [
      'the same name and domain',
      { 'name_domain|ada lovelace@norvik.com': [contact] },
      'exists',
      'the same name and domain',
    ],
    [
      'the same name alone',
      { 'name|ada lovelace': [contact] },
      'possible',
      'the same name, and nothing else',
    ],
    // Colleagues share a domain.
    ['the same domain', { 'domain|norvik.com': [contact] }, 'new', 'no record is like it'],
  ] as const)('%s', (_, records, verdict, reason) => {
    expect(judgeRows([row], known(records))[0]).toMatchObject({ verdict, reason })
  })

  test('a name with a mailbox provider’s domain is a name alone', () => {
    const [judged] = judgeRows([person({ domain: 'gmail.com' })], known({ 'name|ada lovelace': [contact] }))
    expect(judged).toMatchObject({ verdict: 'possible' })
    expect(person({ domain: 'gmail.com' }).identities.map(identityText)).toEqual(['name|ada lovelace'])
  })
})
