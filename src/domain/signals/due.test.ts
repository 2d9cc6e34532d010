import { expect, test } from 'vitest'
import { dueChecks } from './due.ts'
import { signalTypes } from './signal.ts'

const first = new Date('2026-11-23T08:00:00Z')
const dayMs = 86_400_000
const after = (days: number) => new Date(first.getTime() + days * dayMs)

/** Returns the checks that are due some days after all were made, whole ones since the first. */
function due(days: number, { wholeDaysAgo = days, isMatched = true } = {}) {
  const now = after(days)
  const wholeAt = new Date(now.getTime() - wholeDaysAgo * dayMs)
  const last = signalTypes.map((type) => ({ type, checkedAt: first, wholeAt, isMatched }))
  return dueChecks(signalTypes, last, { days: {}, now })
}

test('the first time everything in reach is asked for', () => {
  expect(
    dueChecks(signalTypes, [], { days: {}, now: first }).map(({ type, from, isWhole }) => [
      type,
      from,
      isWhole,
    ]),
  ).toEqual([
    ['job', '2026-06-26', true],
    ['news', '2026-08-25', true],
    ['advertisement', undefined, true],
    ['cloud', undefined, true],
    ['expansion', undefined, true],
  ])
})

test.each([
  [2, []],
  [3, ['news']],
  [7, ['job', 'news', 'expansion']],
  [14, ['job', 'news', 'advertisement', 'expansion']],
  [30, ['job', 'news', 'advertisement', 'cloud', 'expansion']],
])('after %i days these are due: %j', (days, types) => {
  expect(due(days).map(({ type }) => type)).toEqual(types)
})

test('jobs, news and market entries are asked for from the day before the last check on, and whole after 28 days', () => {
  expect(due(7).map(({ type, from, isWhole }) => [type, from, isWhole])).toEqual([
    ['job', '2026-11-22', false],
    ['news', '2026-11-22', false],
    ['expansion', '2026-11-22', false],
  ])
  const whole = [
    ['job', '2026-07-03', true],
    ['news', '2026-09-01', true],
    ['expansion', undefined, true],
  ]
  const parts = ({ type, from, isWhole }: ReturnType<typeof due>[number]) => [type, from, isWhole]
  expect(due(7, { wholeDaysAgo: 28 }).map(parts)).toEqual(whole)
  // Nothing was asked while the service did not know the company.
  expect(due(7, { isMatched: false }).map(parts)).toEqual(whole)
})
