import { expect, test } from 'vitest'
import { filtersOf, readCursor, readParams } from './record-search.ts'

test.each(['0000-01-01', '9999-12-31', '2026-02-30x', '2026-13-01', '-001-01-01'])(
  'the day %s, which the database cannot read, is no filter',
  (day) => {
    const params = readParams({ from: day, to: day }, '')
    expect(params).toMatchObject({ from: '', to: '' })
    expect(filtersOf(params)).toMatchObject({ from: undefined, before: undefined })
  },
)

test('a range of days ends with its last day', () => {
  expect(filtersOf(readParams({ from: '2026-11-01', to: '2026-11-30' }, ''))).toMatchObject({
    from: new Date('2026-11-01T00:00:00Z'),
    before: new Date('2026-12-01T00:00:00Z'),
  })
})

test('a place in the list is read where its time is one that the database knows', () => {
  expect(readCursor('1795361110675.7')).toEqual({ at: new Date(1795361110675), id: 7n })
  for (const text of ['999999999999999.1', '253402300799999.1', '-1.1', '1', undefined])
    expect(readCursor(text)).toBeUndefined()
})
