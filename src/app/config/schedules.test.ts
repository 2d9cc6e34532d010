import { expect, test } from 'vitest'
import { schedulesOf, schedulesSchema } from './schedules.ts'

const nightly = { connector: 'hubspot', cron: '0 2 * * *', timeZone: 'Europe/Berlin' }

test.each([
  [{ ...nightly, cron: '61 2 * * *' }, /61 2/],
  [{ ...nightly, timeZone: 'Europe/Nowhere' }, /Europe\/Nowhere is not a time zone/],
  [{ ...nightly, stopAt: '25:00' }, /time of day/],
  [{ ...nightly, connector: 'abacus' }, /hubspot/],
  [{ ...nightly, stopsAt: '06:00' }, /stopsAt/],
  [{ cron: nightly.cron }, /one of `connector`.* `signalsReport` and `champions`/],
  [{ ...nightly, list: 'dach' }, /one of `connector`.* `signalsReport` and `champions`/],
  [{ ...nightly, budgetUsd: '1' }, /budgetUsd: not for schedules with `connector`/],
  [
    { list: 'dach', cron: nightly.cron, refresh: true, limit: 5 },
    /limit, refresh: not for schedules with `list`/,
  ],
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

test('a schedule of a list goes into its CRM, within its budget; a list that is not there is named', () => {
  const weekly = schedulesSchema.parse({ weekly: { list: 'dach', cron: '0 6 * * 1' } })
  const into = { connector: 'salesforce', entity: 'Account' } as const
  const dach = { search: 'company.search', filters: {}, into } as const
  expect(schedulesOf(weekly, { dach: { ...dach, budgetUsd: 2_500_000n } } as never)).toEqual([
    {
      name: 'weekly',
      list: 'dach',
      cron: '0 6 * * 1',
      timeZone: 'UTC',
      connector: 'salesforce',
      object: 'Account',
      budgetUsd: '2.500000',
    },
  ])
  expect(() => schedulesOf(weekly, { dach } as never)).toThrow(/schedules\.weekly: .*budgetUsd.*lists\.dach/)
  expect(() => schedulesOf(weekly, { other: dach } as never)).toThrow(
    /schedules\.weekly\.list: there is no list dach; there are other/,
  )
})

test('a schedule of champions has their CRM and budget', () => {
  const weekly = schedulesSchema.parse({ weekly: { champions: 'customers', cron: '0 3 * * 1' } })
  const customers = { connector: 'salesforce', entity: 'Contact' }
  const of = (champions: object) => schedulesOf(weekly, {}, {}, champions as never)
  expect(of({ customers: { ...customers, budgetUsd: 2_500_000n } })).toMatchObject([
    { champions: 'customers', connector: 'salesforce', object: 'Contact', budgetUsd: '2.500000' },
  ])
  expect(() => of({ customers })).toThrow(/schedules\.weekly: .*budgetUsd.*champions\.customers/)
  expect(() => of({ other: customers })).toThrow(
    /schedules\.weekly\.champions: there is no watch of champions customers; there are other/,
  )
})

test('a schedule of a pipeline has its CRM and budget; that of a list has the ledger', () => {
  const nightly = schedulesSchema.parse({ nightly: { signals: 'moves', cron: '0 3 * * *' } })
  const moves = { accounts: { connector: 'salesforce', entity: 'Account' } }
  expect(schedulesOf(nightly, {}, { moves: { ...moves, budgetUsd: 2_500_000n } } as never)).toMatchObject([
    { signals: 'moves', connector: 'salesforce', object: 'Account', budgetUsd: '2.500000' },
  ])
  const ofList = { accounts: { list: 'dach' }, budgetUsd: 1n }
  expect(schedulesOf(nightly, {}, { moves: ofList } as never)).toMatchObject([{ connector: 'ledger' }])
  expect(() => schedulesOf(nightly, {}, { moves } as never)).toThrow(
    /schedules\.nightly: .*budgetUsd.*signals\.moves/,
  )
  expect(() => schedulesOf(nightly, {}, { other: moves } as never)).toThrow(
    /schedules\.nightly\.signals: there is no pipeline moves; there are other/,
  )
})
