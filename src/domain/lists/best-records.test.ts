import { expect, test } from 'vitest'
import { bestRecords } from './best-records.ts'

test('the best are those with the largest number or the latest time, however the CRM writes it', () => {
  const numbers = bestRecords<string>(2, true)
  for (const [item, by] of Object.entries({ a: '9', b: '1000', c: 200.5, d: 'many', e: '', f: true }))
    numbers.add({ item, by })
  expect(numbers.best()).toEqual(['b', 'c'])
  expect(numbers.counts()).toEqual({ compared: 3, all: 6 })
  const times = bestRecords<string>(1, true)
  times.add({ item: 'old', by: '2025-12-31' })
  times.add({ item: 'new', by: '2026-01-01T00:00:00Z' })
  expect(times.best()).toEqual(['new'])
})

test('of many records no more than the best are kept, the earlier of equal ones first', () => {
  const best = bestRecords<number>(3, true)
  for (let at = 0; at < 10_000; at += 1) best.add({ item: at, by: at % 1_000 })
  expect(best.best()).toEqual([999, 1999, 2999])
})
