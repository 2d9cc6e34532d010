import { expect, test } from 'vitest'
import { recordIdentities } from '../subjects/record-identities.ts'
import { listRowOf, type ListRow } from './list-row.ts'
import { identityText, judgeRows, type Known } from './verdicts.ts'

const row = (values: Record<string, unknown>, id: string | null = JSON.stringify(values)): ListRow =>
  listRowOf(
    'company',
    { ...values, ...(id === null ? {} : { domain_search_id: id }) },
    { page: 1, idName: 'domain_search_id' },
  )

/** A CRM of these companies, by id. */
function crm(companies: Record<string, Record<string, string>>, more: Partial<Known> = {}): Known {
  const index = new Map<string, { entity: string; recordId: string }[]>()
  const profiles = new Map<string, string[]>()
  for (const [recordId, { profnet_url: profileUrl, domain, company_name: company }] of Object.entries(
    companies,
  )) {
    const identity = {
      ...(profileUrl && { profileUrl }),
      ...(domain && { domain }),
      ...(company && { company }),
    }
    for (const each of recordIdentities({ object: 'company', identity })) {
      index.set(identityText(each), [
        ...(index.get(identityText(each)) ?? []),
        { entity: 'companies', recordId },
      ])
      if (each.kind === 'profile') profiles.set(recordId, [...(profiles.get(recordId) ?? []), each.value])
    }
  }
  return {
    recordsWith: (identity) => index.get(identityText(identity)) ?? [],
    profilesOf: ({ recordId }) => profiles.get(recordId) ?? [],
    suppressed: new Set(),
    excluded: new Set(),
    requires: [],
    ...more,
  }
}

const verdictsOf = (rows: ListRow[], known: Known) =>
  judgeRows(rows, known).map(({ verdict, records }) =>
    [verdict, ...records.map(({ recordId }) => recordId)].join(' '),
  )

const acme = {
  company_name: 'ACME Robotics, Inc.',
  domain: 'acme.example',
  profnet_url: 'https://www.profnet.com/company/acme',
}

test.each([
  ['its profile in another spelling', { profnet_url: 'http://de.profnet.com/company/Acme/?x=1' }, 'exists 1'],
  ['its domain as a website below a subdomain', { domain: 'https://shop.ACME.example/de' }, 'exists 1'],
  ['its domain, and no profile of its own', { domain: 'acme.example', company_name: 'Other' }, 'exists 1'],
  [
    'its domain under another profile',
    { domain: 'acme.example', profnet_url: 'profnet.com/company/acme-labs' },
    'ambiguous 1',
  ],
  ['its name alone', { company_name: 'Acme Robotics' }, 'possible 1'],
  ['nothing of it', { domain: 'globex.example', company_name: 'Globex' }, 'new'],
])('a row with %s', (_, values, verdict) =>
  expect(verdictsOf([row(values)], crm({ 1: acme }))).toEqual([verdict]),
)

test('a domain of several records is ambiguous unless the profile decides', () => {
  const known = crm({ 1: acme, 2: { ...acme, profnet_url: 'profnet.com/company/acme-labs' } })
  expect(verdictsOf([row({ domain: 'acme.example' }), row(acme)], known)).toEqual([
    'ambiguous 1 2',
    'exists 1',
  ])
})

test('a mailbox provider’s domain matches nobody', () => {
  expect(
    verdictsOf([row({ domain: 'gmail.com', company_name: 'Solo' })], crm({ 1: { domain: 'gmail.com' } })),
  ).toEqual(['new'])
})

test('rows that repeat an earlier one, are suppressed, excluded, incomplete or without an id', () => {
  const known = crm({}, { suppressed: new Set([2]), excluded: new Set([3]), requires: ['domain'] })
  const rows = [
    row(acme, 'a'),
    row({ ...acme, profnet_url: 'profnet.com/company/ACME' }, 'b'),
    row({ domain: 'hidden.example' }, 'c'),
    row({ domain: 'www.out.example' }, 'd'),
    row({ company_name: 'No domain' }, 'e'),
    row({ domain: 'x.example' }, null),
    row({ domain: 'y.example' }, 'a'),
  ]
  expect(verdictsOf(rows, known)).toEqual([
    'new',
    'duplicate',
    'suppressed',
    'excluded',
    'incomplete',
    'drifted',
    'duplicate',
  ])
})

test('of two new rows with one domain and two profiles the second waits for a person', () => {
  const rows = [row(acme, 'a'), row({ ...acme, profnet_url: 'profnet.com/company/acme-labs' }, 'b')]
  expect(verdictsOf(rows, crm({}))).toEqual(['new', 'ambiguous'])
})

test('a person’s one name is divided at its last gap', () => {
  const { identity, values } = listRowOf(
    'person',
    { name: ' Ann Marie Lee ', title: 'CFO', profnet_url: 'profnet.com/in/ann', people_search_id: 7 },
    { page: 1, idName: 'people_search_id' },
  )
  expect(identity).toMatchObject({ firstName: 'Ann Marie', lastName: 'Lee' })
  expect(values).toMatchObject({ full_name: 'Ann Marie Lee', job_title: 'CFO' })
})

test('a record of the same person elsewhere is no reason against another, nor is a namesake with another profile', () => {
  const person = (values: Record<string, string>) => row({ company_name: 'Ada Lovelace', ...values }, '1')
  const before = { profnet_url: 'https://www.profnet.com/company/ada', company_name: 'Ada Lovelace' }
  const besides = [{ entity: 'companies', recordId: '1' }]
  const moved = { ...person({ profnet_url: before.profnet_url }), besides }
  expect(verdictsOf([moved], crm({ 1: before }))).toEqual(['new'])
  const namesake = { company_name: 'Ada Lovelace', profnet_url: 'https://www.profnet.com/company/other-ada' }
  expect(verdictsOf([moved], crm({ 1: before, 2: namesake }))).toEqual(['new'])
  expect(verdictsOf([moved], crm({ 1: before, 2: { company_name: 'Ada Lovelace' } }))).toEqual(['possible 2'])
  expect(verdictsOf([moved], crm({ 1: before, 2: before }))).toEqual(['exists 2'])
  expect(verdictsOf([{ ...moved, besides: undefined }], crm({ 1: before }))).toEqual(['exists 1'])
})
