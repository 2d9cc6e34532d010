import { expect, test } from 'vitest'
import { assertAccountBudgets } from './account-budgets.ts'
import { signalsSchema } from './signals.ts'

const prices = { 'job.search': 50_000n, 'news.search': 30_000n, 'cloud.search': undefined }
const pipeline = (more: Record<string, unknown>) =>
  signalsSchema.parse({ moves: { accounts: { connector: 'hubspot' }, types: ['job', 'news'], ...more } })

test.each([
  [{ budgetMonthUsd: '0.079' }, 'signals.moves.budgetMonthUsd: 0.079000 USD is below'],
  [{ budgetUsd: '0.05' }, 'signals.moves.budgetUsd: 0.050000 USD is below'],
])('a budget below the price of one account is refused with its place: %j', (more, place) => {
  expect(() => assertAccountBudgets(pipeline(more), prices)).toThrow(place)
})

test.each([
  [{ budgetUsd: '0.08', budgetMonthUsd: '0.08' }],
  [{ budgetUsd: '0.05', types: ['job'] }],
  // The price of a search of clouds is not known.
  [{ budgetUsd: '0.01', types: ['cloud'] }],
  [{}],
])('a budget of one account or more is taken: %j', (more) => {
  expect(() => assertAccountBudgets(pipeline(more), prices)).not.toThrow()
})
