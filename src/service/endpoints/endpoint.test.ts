import { expect, test } from 'vitest'
import { companyProfile } from './company-profile.ts'

const answer = (data: unknown) => companyProfile.decode(JSON.stringify({ data }))

test('one field of the wrong type does not cost the others', () => {
  const fact = answer({
    name: 'Acme',
    industry: [],
    headcount: { a: 1 },
    domain: 'acme.com',
    employee_count: [],
  })
  expect(fact).toMatchObject({ outcome: 'found', data: { name: 'Acme', domain: 'acme.com', industry: null } })
  expect(fact.data?.['unreadable_fields']).toMatchObject({ industry: [] })
})

test('a record without a readable field is stored unchanged', () => {
  const fact = answer({ industry: {} })
  expect(fact).toMatchObject({ outcome: 'unreadable' })
  expect(fact.data?.['raw']).toContain('"industry"')
  expect(companyProfile.decode('<html>')).toMatchObject({ outcome: 'unreadable' })
})

test('null is nothing found', () => {
  expect(answer(null)).toEqual({ outcome: 'not_found', data: null })
})
