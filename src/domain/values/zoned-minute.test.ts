import { expect, test } from 'vitest'
import { zonedMinute } from './zoned-minute.ts'

test('a time of a schedule is told in its zone, by summer and by winter time', () => {
  expect(zonedMinute(new Date('2026-11-23T01:00:00.000Z'), 'Europe/Berlin')).toBe(
    '2026-11-23 02:00 Europe/Berlin',
  )
  expect(zonedMinute(new Date('2026-07-01T23:30:00.000Z'), 'Europe/Berlin')).toBe(
    '2026-07-02 01:30 Europe/Berlin',
  )
  expect(zonedMinute(new Date('2026-11-23T01:00:00.000Z'), 'UTC')).toBe('2026-11-23 01:00 UTC')
})
