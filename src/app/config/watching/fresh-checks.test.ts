import { expect, test } from 'vitest'
import { assertFreshChecks } from './fresh-checks.ts'
import { signalsSchema } from './signals.ts'

const usual = { foundDays: 90, notFoundDays: 30, operations: {} }
const watched = (more: object) =>
  signalsSchema.parse({ moves: { accounts: { connector: 'hubspot' }, ...more } })

test('the usual freshness of searches is shorter than the usual days', () => {
  expect(() => assertFreshChecks(watched({}), usual)).not.toThrow()
})

test.each([
  ['cloud.search', 31],
  ['expansion.lookup', 8],
] as const)('answers of %s that stay fresh for %i days are refused', (operation, foundDays) => {
  const windows = { ...usual, operations: { [operation]: { foundDays } } }
  expect(() => assertFreshChecks(watched({}), windows)).toThrow(
    `answers of ${operation} are fresh for ${foundDays} days`,
  )
  expect(() => assertFreshChecks(watched({ types: ['job', 'news', 'advertisement'] }), windows)).not.toThrow()
})
