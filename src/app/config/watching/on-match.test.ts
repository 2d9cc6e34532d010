import { expect, test } from 'vitest'
import { describeIssues } from '../describe-issues.ts'
import { automaticEnrichmentWarning, onMatchSchema } from './on-match.ts'

const crm = { connector: 'hubspot' }

function faultOf(onMatch: object): string | undefined {
  const { error } = onMatchSchema.safeParse(onMatch)
  return error && describeIssues(onMatchSchema, error.issues)
}

test.each([
  [crm],
  [{ ...crm, create: true, recipe: 'profile', owner: '71001', set: { lifecyclestage: 'lead' } }],
  [{ ...crm, people: { perCompany: 2, levels: ['C-Level'], contact: ['email', 'phone'] } }],
  [{ ...crm, people: { perCompany: 2, recipe: 'mails', owner: { fromCompany: true } } }],
  [{ ...crm, note: { title: 'Moves' }, task: { title: 'Call them', dueDays: 2 }, oncePer: '12h' }],
  [{ ...crm, budgetDayUsd: '2.50', budgetMonthUsd: 25 }],
])('%j is done on a match', (onMatch) => {
  expect(faultOf(onMatch)).toBeUndefined()
})

test.each([
  [{}, 'connector: '],
  [{ connector: 'abacus' }, 'connector: '],
  [{ ...crm, creates: true }, 'creates is not a setting; did you mean create?'],
  [{ ...crm, oncePer: 'a week' }, 'oncePer: is no time such as 12h or 7d'],
  [{ ...crm, oncePer: '0d' }, 'oncePer: is no time'],
  [{ ...crm, oncePer: '500d' }, 'oncePer: is no time'],
  [{ ...crm, people: {} }, 'people.perCompany: '],
  [{ ...crm, people: { perCompany: 2, companies: 3 } }, 'people.companies is not a setting'],
  [{ ...crm, people: { perCompany: 2, contact: ['fax'] } }, 'people.contact'],
  [
    { ...crm, people: { perCompany: 2, contact: ['email'], recipe: 'mails' } },
    'people.contact: is decided by the recipe',
  ],
  [{ ...crm, task: true }, 'task: '],
  [{ ...crm, budgetDayUsd: '5', budgetMonthUsd: '2' }, 'budgetDayUsd: is above budgetMonthUsd'],
  [{ ...crm, budgetDayUsd: 'much' }, 'budgetDayUsd: is not an amount in USD'],
])('%j is refused with its place', (onMatch, message) => {
  expect(faultOf(onMatch)).toContain(message)
})

test('A company is worked once a week where nothing else is said', () => {
  expect(onMatchSchema.parse(crm).oncePer).toBe(7 * 86_400_000)
})

test('A plan says that the service spends credits by itself, where that is declared', () => {
  expect(automaticEnrichmentWarning({})).toBeUndefined()
  expect(automaticEnrichmentWarning({ automaticPersonEnrichment: {} })).toContain('paydirt reconcile')
})
