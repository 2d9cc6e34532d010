import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../test/support/seed.ts'
import { defaultWindows, dueForRefresh, freshUntil, type Windows } from './freshness.ts'

const at = new Date('2026-03-01T00:00:00Z')
const windows: Windows = {
  ...defaultWindows,
  operations: { 'contact.redeem': { foundDays: 365, notFoundDays: 7 }, 'contact.lookup': { foundDays: 10 } },
}

test.each([
  ['company.profile', 'found', '2026-05-30'],
  ['company.profile', 'not_found', '2026-03-31'],
  ['company.profile', 'unreadable', '2026-05-30'],
  ['contact.redeem', 'found', '2027-03-01'],
  ['contact.redeem', 'not_found', '2026-03-08'],
  ['contact.lookup', 'found', '2026-03-11'],
  ['contact.lookup', 'not_found', '2026-03-31'],
] as const)('an answer of %s that is %s is fresh until %s', (operation, outcome, day) => {
  expect(freshUntil(operation, outcome, at, windows).toISOString()).toBe(`${day}T00:00:00.000Z`)
})

test('a window of no days makes every answer stale at once, and without windows the defaults hold', () => {
  expect(freshUntil('contact.lookup', 'found', at, { foundDays: 0, notFoundDays: 0 })).toEqual(at)
  expect(freshUntil('contact.redeem', 'found', at).toISOString()).toBe('2026-05-30T00:00:00.000Z')
})

test('the oldest stale answers are refreshed first, inside the budget', () => {
  const answer = (id: string, day: number, staleDay: number, priceAtomic: bigint) => ({
    id,
    answeredAt: new Date(Date.UTC(2026, 0, day)),
    freshUntil: new Date(Date.UTC(2026, 1, staleDay)),
    priceAtomic,
  })
  const answers = [
    answer('c', 3, 1, 10n),
    answer('a', 1, 1, 10n),
    answer('fresh', 0, 28, 10n),
    answer('b', 2, 1, 30n),
    answer('d', 4, 1, 1n),
  ]
  const due = (budget: bigint) =>
    dueForRefresh(answers, new Date(Date.UTC(2026, 1, 10)), budget).map(({ id }) => id)
  expect(due(1000n)).toEqual(['a', 'b', 'c', 'd'])
  expect(due(40n)).toEqual(['a', 'b'])
  // A cheap one does not overtake an older one that is too dear.
  expect(due(15n)).toEqual(['a'])
  expect(due(0n)).toEqual([])
})

test('due answers never cost more than the budget, and no older one is left out', () => {
  const answers = fc.array(fc.record({ age: fc.nat(100), stale: fc.boolean(), price: fc.bigInt(0n, 50n) }))
  fc.assert(
    fc.property(answers, fc.bigInt(0n, 500n), (rows, budget) => {
      const all = rows.map(({ age, stale, price }) => ({
        answeredAt: new Date(at.getTime() - age),
        freshUntil: new Date(at.getTime() + (stale ? 0 : 1)),
        priceAtomic: price,
      }))
      const due = dueForRefresh(all, at, budget)
      expect(due.reduce((sum, { priceAtomic }) => sum + priceAtomic, 0n) <= budget).toBe(true)
      const last = due.at(-1)
      for (const answer of all)
        if (last && answer.freshUntil <= at && answer.answeredAt < last.answeredAt)
          expect(due).toContain(answer)
      expect(due.every(({ freshUntil: until }) => until <= at)).toBe(true)
    }),
    { seed: testSeed() },
  )
})
