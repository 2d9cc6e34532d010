import { expect, test } from 'vitest'
import { cronProblem, lastTime, nextTime } from './cron.ts'

const berlin = { cron: '0 2 * * *', timeZone: 'Europe/Berlin' }
const at = new Date('2026-11-20T12:00:00Z')

test.each([
  ['0 2 * * *', 'Europe/Berlin', undefined],
  ['30 0 2 * * 1-5', 'America/New_York', undefined],
  ['@daily', 'UTC', undefined],
  ['0 2 * * *', 'Europe/Nowhere', /Europe\/Nowhere is not a time zone/],
  ['61 2 * * *', 'UTC', /"61 2 \* \* \*" cannot be read: .*0-59/],
  ['0 2 * *', 'UTC', /five fields/],
  ['', 'UTC', /five fields/],
  ['every night', 'UTC', /five fields/],
  ['0 0 31 2 *', 'UTC', /cannot be read|never comes/],
])('%j in %s: %s', (cron, timeZone, problem) => {
  const found = cronProblem({ cron, timeZone }, at)
  if (problem) expect(found).toMatch(problem)
  else expect(found).toBeUndefined()
})

test('the next time is local, also over the change of the clocks', () => {
  expect(nextTime(berlin, at)?.toISOString()).toBe('2026-11-21T01:00:00.000Z')
  expect(nextTime(berlin, new Date('2026-07-01T12:00:00Z'))?.toISOString()).toBe('2026-07-02T00:00:00.000Z')
})

test('the last time is the one at or before, and never one from before the beginning', () => {
  const begin = new Date('2026-11-01T00:00:00Z')
  expect(lastTime(berlin, at, begin)?.toISOString()).toBe('2026-11-20T01:00:00.000Z')
  expect(lastTime(berlin, new Date('2026-11-20T01:00:00Z'), begin)?.toISOString()).toBe(
    '2026-11-20T01:00:00.000Z',
  )
  expect(lastTime(berlin, new Date('2026-11-20T00:59:59Z'), begin)?.toISOString()).toBe(
    '2026-11-19T01:00:00.000Z',
  )
  expect(lastTime(berlin, at, new Date('2026-11-20T01:00:00Z'))).toBeUndefined()
  const everySecond = { cron: '* * * * * *', timeZone: 'UTC' }
  expect(lastTime(everySecond, new Date('2026-11-20T12:00:00.900Z'), begin)).toEqual(at)
})
