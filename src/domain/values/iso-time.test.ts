import { expect, test } from 'vitest'
import { isoDay, parseIsoTime } from './iso-time.ts'

test.each<[string, string | undefined]>([
  ['2026-11-23', '2026-11-23T00:00:00.000Z'],
  [' 2026-11-23T08:15 ', '2026-11-23T08:15:00.000Z'],
  ['2026-11-23 08:15:30', '2026-11-23T08:15:30.000Z'],
  ['2026-11-23T08:15:30.1Z', '2026-11-23T08:15:30.100Z'],
  ['2026-11-23T08:15:30.123456789z', '2026-11-23T08:15:30.123Z'],
  ['2026-11-23T08:15:30+0000', '2026-11-23T08:15:30.000Z'],
  ['2026-11-23T00:15:30+05:45', '2026-11-22T18:30:30.000Z'],
  ['2026-11-23T23:15-08', '2026-11-24T07:15:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-02-29', undefined],
  ['2026-13-01', undefined],
  ['2026-11-23T24:00', undefined],
  ['2026-11-23T10', undefined],
  ['2026-11', undefined],
  ['23.11.2026', undefined],
  ['2026-11-23x', undefined],
  ['', undefined],
])('%j is %s', (text, expected) => {
  const atMs = parseIsoTime(text)
  expect(atMs === undefined ? undefined : new Date(atMs).toISOString()).toBe(expected)
  if (atMs !== undefined) expect(isoDay(atMs)).toBe(expected?.slice(0, 10))
})
