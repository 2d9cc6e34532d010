import { expect, test } from 'vitest'
import { dueNow } from './gather.ts'

const salesforce = { perRequest: 200, most: 4_000, gatherMs: 5_000 }

test.each([
  [
    'waits while others are to come',
    { count: 4, oldestMs: 200, moreToCome: true },
    { count: 0, waitMs: 4_800 },
  ],
  ['is written when its time is up', { count: 4, oldestMs: 5_000, moreToCome: true }, { count: 4 }],
  [
    'is written at once when nothing else is to come',
    { count: 4, oldestMs: 0, moreToCome: false },
    { count: 4 },
  ],
  [
    'is written in full requests, and the rest waits on',
    { count: 259, oldestMs: 6_000, moreToCome: true },
    { count: 200, waitMs: 5_000 },
  ],
  [
    'is written whole where the requests are full',
    { count: 400, oldestMs: 5_000, moreToCome: true },
    { count: 400 },
  ],
  [
    'does not wait when there is as much as one write takes',
    { count: 9_000, oldestMs: 0, moreToCome: true },
    { count: 4_000 },
  ],
])('what is ready %s', (_, gathered, due) => {
  expect(dueNow(gathered, salesforce)).toEqual(due)
})

test('a source that is not written by requests gathers nothing', () => {
  expect(
    dueNow({ count: 1, oldestMs: 0, moreToCome: true }, { ...salesforce, perRequest: undefined }),
  ).toEqual({
    count: 1,
  })
})
