import { expect, test } from 'vitest'
import { explainStep } from './explain.ts'
import type { PlannedRecord } from './step.ts'
import { builtInRecipes } from './recipes.ts'

const url = 'https://www.profnet.com/company/acme'
const profile = {
  outcome: 'found' as const,
  data: { company_name: 'Acme', industry: 'Lamps', profnet_url: url },
}
const nextOf = (closed: PlannedRecord['closed']) =>
  explainStep(
    { object: 'company', identity: { profileUrl: url }, closed },
    builtInRecipes('company', 'profile'),
    {
      'company.profile': profile,
      'company.logo': { outcome: 'not_found', data: null },
    },
  ).next

test('a value that the record has already is no field to be written', () => {
  expect(nextOf({})).toMatch(/^write 3 fields by the field policy \(company_name, /)
  expect(nextOf({ company_name: 'filled', profnet_url: 'filled' })).toBe(
    'write 1 field by the field policy (industry)',
  )
  expect(nextOf({ company_name: 'filled', profnet_url: 'filled', industry: 'filled' })).toMatch(
    /^write nothing/,
  )
})
