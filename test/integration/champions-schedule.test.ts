import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { listRuns } from '../../src/app/runs/run-list.ts'
import { listSchedules, runScheduleNow } from '../../src/app/schedules/schedule-commands.ts'
import { startSchedules, type Schedules } from '../../src/app/schedules/scheduler.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { known, openCareers, type Career } from './champions.fixture.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let edge: Awaited<ReturnType<typeof openCareers>>
let schedules: Schedules

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await schedules.stop(5_000)
  await house.close()
  edge.close()
})

test('champions are looked up on their schedule, and the cap of the month parks it until the next one', async () => {
  let at = new Date('2037-11-23T08:00:00Z')
  const people = known(4, 2_200)
  edge = await openCareers(sandbox, people, new Map<string, Career>([[people[0]!.slug, 'left']]))
  house = await openCrmHouse(sandbox, {
    config: {
      connectors: quick,
      champions: { customers: { connector: 'hubspot', budgetMonthUsd: '0.07' } },
      schedules: { weekly: { champions: 'customers', cron: '0 6 * * 1', budgetUsd: '5' } },
    },
    env: { PAYDIRT_SERVICE_URL: edge.url, PAYDIRT_PORT: '0' },
    overrides: { now: () => at },
  })
  for (const { slug, employer } of people)
    house.add('contacts', {
      email: `${slug}@${employer.domain}`,
      profnet_url: `https://www.profnet.com/in/${slug}`,
    })
  schedules = await startSchedules(house.context, { everyMs: 3_600_000, retryMs: 50 })
  const worked = async () => {
    await schedules.look()
    return vi.waitFor(
      async () => {
        const turn = await house.context.database.db
          .selectFrom('schedule_turns')
          .selectAll()
          .orderBy('id', 'desc')
          .executeTakeFirstOrThrow()
        expect(turn.state).not.toBe('scanning')
        expect(turn.reason).not.toBeNull()
        return turn
      },
      { timeout: 60_000, interval: 50 },
    )
  }
  expect(await runScheduleNow(house.context, 'weekly')).toBe(1)
  const parked = await worked()
  expect(parked).toMatchObject({
    state: 'due',
    connector: 'hubspot',
    entity: 'contacts',
    not_before: new Date('2037-12-01T00:00:00Z'),
  })
  expect(parked.reason).toContain('champions.customers.budgetMonthUsd')
  expect(await listSchedules(house.context)).toMatchObject([{ name: 'weekly', champions: 'customers' }])

  at = new Date('2037-12-01T00:00:01Z')
  await house.context.database.db.updateTable('schedules').set({ handled_until: at }).execute()
  await schedules.look()
  await vi.waitFor(
    async () =>
      expect(await house.context.database.db.selectFrom('champions').selectAll().execute()).toHaveLength(4),
    { timeout: 60_000, interval: 50 },
  )
  const runs = await listRuns(house.context, 20)
  expect(new Set(runs.map(({ list, champions }) => [list, champions].join(' ')))).toEqual(
    new Set([' customers']),
  )
  expect((await sandbox.transfersFrom(house.wallet)).length).toBe((await house.nonces()).length)
})
