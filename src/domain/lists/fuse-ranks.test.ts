import { expect, test } from 'vitest'
import { namedBy, scoreOf, similarityOf, type Naming } from './fuse-ranks.ts'

test('a company is worth the reciprocals of its places, k is 60', () => {
  expect(similarityOf('company', [{ part: 0, rank: 1 }])).toBeCloseTo(1 / 61, 12)
  expect(
    similarityOf('company', [
      { part: 0, rank: 1 },
      { part: 1, rank: 3 },
    ]),
  ).toBeCloseTo(1 / 61 + 1 / 63, 12)
})

test('two middling places are worth more than one first', () => {
  const twice: Naming[] = [
    { part: 0, rank: 20 },
    { part: 1, rank: 20 },
  ]
  expect(similarityOf('company', twice)).toBeGreaterThan(similarityOf('company', [{ part: 0, rank: 1 }])!)
})

test('a reference counts once, by its best place, in whatever order the answers came', () => {
  const namings: Naming[] = [
    { part: 0, rank: 7 },
    { part: 1, rank: 2 },
    { part: 0, rank: 3 },
    { part: 2, rank: 11 },
  ]
  const score = similarityOf('company', namings)
  expect(score).toBeCloseTo(1 / 62 + 1 / 63 + 1 / 71, 12)
  expect(similarityOf('company', namings.toReversed())).toBe(score)
  expect(namedBy(namings).map(({ part, rank }) => [part, rank])).toEqual([
    [1, 2],
    [0, 3],
    [2, 11],
  ])
})

test('a person has the best score that the service gave, and none where it gave none', () => {
  expect(
    similarityOf('person', [
      { part: 0, rank: 9, score: 0.7 },
      { part: 1, rank: 1, score: 0.4 },
      { part: 2, rank: 2 },
    ]),
  ).toBe(0.7)
  expect(similarityOf('person', [{ part: 0, rank: 1 }])).toBeNull()
})

test.each([
  [{ similarity_score: 0.5 }, 0.5],
  [{ similarity_score: 0 }, 0],
  [{ similarity_score: '0.5' }, undefined],
  [{ similarity_score: 50 }, undefined],
  [{ similarity_score: Number.NaN }, undefined],
  [{ similarity_score: null }, undefined],
  [{}, undefined],
])('the score of %o is %s', (row, score) => {
  expect(scoreOf(row)).toBe(score)
})
