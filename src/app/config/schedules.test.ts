import { expect, test } from 'vitest'
import { schedulesOf, schedulesSchema } from './schedules.ts'

const nightly = { connector: 'hubspot', cron: '0 2 * * *', timeZone: 'Europe/Berlin' }

test.each([
  [{ ...nightly, cron: '61 2 * * *' }, /61 2/],
  [{ ...nightly, timeZone: 'Europe/Nowhere' }, /Europe\/Nowhere is not a time zone/],
  [{ ...nightly, stopAt: '25:00' }, /time of day/],
  [{ ...nightly, connector: 'abacus' }, /hubspot/],
  [{ ...nightly, stopsAt: '06:00' }, /stopsAt/],
])('%j is refused by its name', (settings, message) => {
  const result = schedulesSchema.safeParse({ nightly: settings })
  expect(result.error?.issues[0]?.message).toMatch(message)
  expect(result.error?.issues[0]?.path[0]).toBe('nightly')
})

test('a name must be fit for a command line', () => {
  expect(schedulesSchema.safeParse({ 'every night': nightly }).success).toBe(false)
})

test('what is not said has its default', () => {
  const { timeZone: _, ...rest } = nightly
  expect(schedulesOf(schedulesSchema.parse({ nightly: rest }))).toEqual([
    { name: 'nightly', ...rest, timeZone: 'UTC' },
  ])
})
