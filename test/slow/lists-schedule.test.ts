import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { refreshList } from '../../src/app/lists/running/refresh-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { readList } from '../../src/app/lists/pages/read-list.ts'
import type { FileConfig } from '../../src/app/config/file.ts'
import { listSchedules, runScheduleNow } from '../../src/app/schedules/schedule-commands.ts'
import { startSchedules, type Schedules } from '../../src/app/schedules/scheduler.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, quick, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let schedules: Schedules | undefined

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  sandbox.faults.reset()
  await schedules?.stop(5_000)
  schedules = undefined
  await house.close()
})

const german = {
  search: 'company.search',
  filters: { countries: ['DE'] },
  into: { connector: 'hubspot', entity: 'companies' },
  limit: 30,
} as const

async function open(more: object = {}, schedule: object = {}): Promise<void> {
  const config = {
    payment: { maxPricesUsd: { 'company.search': '0.05' } },
    lists: { german: { ...german, ...more } },
    schedules: { weekly: { list: 'german', cron: '0 6 * * 1', budgetUsd: '1', ...schedule } },
  }
  house = await openCrmHouse(sandbox, {
    config: { ...(config as FileConfig), connectors: quick },
    env: { PAYDIRT_PORT: '0' },
  })
  await index()
}

async function index(): Promise<void> {
  const { signal } = new AbortController()
  await indexRecords(house.context, house.connector, 'companies', { rebuild: true, signal })
}

/** Asks for a run now, and returns how its occurrence ended. */
async function runNow() {
  schedules ??= await startSchedules(house.context, { everyMs: 3_600_000, retryMs: 50 })
  expect(await runScheduleNow(house.context, 'weekly')).toBe(1)
  await schedules.look()
  const last = () =>
    house.context.database.db
      .selectFrom('schedule_turns')
      .selectAll()
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
  return vi.waitFor(
    async () => {
      const turn = await last()
      expect(turn.state).not.toMatch(/due|scanning/)
      return turn
    },
    { timeout: 30_000, interval: 50 },
  )
}

/** Lets all pages grow stale, as a week does. */
async function aWeekLater(): Promise<void> {
  const { db } = house.context.database
  await db
    .updateTable('lookups')
    .set({ fresh_until: new Date(0) })
    .execute()
  await db
    .updateTable('list_fetches')
    .set({ fresh_until: new Date(0) })
    .execute()
}

const transfers = async () => (await sandbox.transfersFrom(house.wallet)).length
const fetches = () => house.context.database.db.selectFrom('list_fetches').select('id').execute()

test('a list runs on its schedule; a refresh buys page 1, and goes on only when something has changed', async () => {
  await open()
  const first = await runNow()
  expect(first).toMatchObject({ state: 'handed_over', reason: '2 pages bought, 30 records made, 0 existed' })
  expect(await house.context.runs.get(first.run_id ?? '')).toMatchObject({
    trigger: 'list',
    state: 'finished',
    records: 30,
  })
  expect(await transfers()).toBe(2)

  await aWeekLater()
  const unchanged = await runNow()
  expect(unchanged).toMatchObject({ state: 'handed_over', run_id: null })
  expect(unchanged.reason).toMatch(/^1 page bought: nothing has changed since 2\d{3}-/)
  expect(await transfers()).toBe(3)
  // The list is still whole: what page 1 has confirmed stays its newest fetch.
  const calls = await listCalls(house.context, 'german', { asks: false })
  expect(await readList(house.context, calls)).toMatchObject({ isComplete: true, isCurrent: true, rows: 30 })
  expect(await fetches()).toHaveLength(1)

  await aWeekLater()
  const { db } = house.context.database
  await db
    .updateTable('list_fetches')
    .set({ parts: parts('another page 1') })
    .execute()
  const changed = await runNow()
  expect(changed).toMatchObject({ state: 'handed_over', reason: '2 pages bought, nothing was to be made' })
  expect(await transfers()).toBe(5)
  expect(await fetches()).toHaveLength(2)
  expect([...house.hubspot.store.list('companies')]).toHaveLength(30)
  expect(await listSchedules(house.context)).toMatchObject([
    { name: 'weekly', list: 'german', connector: 'hubspot', object: 'companies', budgetUsd: '1.000000' },
  ])
})

/** The parts of a whole fetch whose first page was other than it is now. */
const parts = (first: string): string =>
  JSON.stringify([
    {
      name: 'all',
      pages: 2,
      total: 99,
      pageRows: null,
      arrived: 30,
      repeated: 0,
      overlap: 0,
      isEnded: true,
      first,
    },
  ])

test('the budget of the schedule holds, and the next one goes on', async () => {
  await open({}, { budgetUsd: '0.06' })
  const first = await runNow()
  expect(first).toMatchObject({ state: 'handed_over', run_id: null })
  expect(first.reason).toMatch(/^1 page bought: the next page may cost 0\.050000 USD/)
  expect(await runNow()).toMatchObject({ reason: '1 page bought, 30 records made, 0 existed' })
})

test('the kill switch and the cap of a month hold for a refresh too', async () => {
  await open({ budgetMonthUsd: '0.11' })
  expect(await runNow()).toMatchObject({ reason: '2 pages bought, 30 records made, 0 existed' })
  await aWeekLater()
  const calls = await listCalls(house.context, 'german', { asks: false })
  const refresh = (budgetAtomic = 1_000_000n) =>
    refreshList(house.context, calls, {
      connector: house.connector,
      budgetAtomic,
      reachableOnly: false,
      signal: new AbortController().signal,
    })
  expect(await refresh(10_000n)).toMatchObject({ end: 'budget', bought: 0 })
  const { lists } = house.context.config
  Object.assign(lists, { german: { ...lists['german'], budgetMonthUsd: 30_000n } })
  expect(await refresh()).toMatchObject({ end: 'budget', bought: 0 })
  Object.assign(lists, { german: { ...lists['german'], budgetMonthUsd: undefined } })
  await house.context.spendSwitch.stop('a test')
  expect(await refresh()).toMatchObject({ end: 'parked', bought: 0 })
  expect(await transfers()).toBe(2)
})

test('what a run would be refused for is refused when it is asked for, and fails an occurrence', async () => {
  await open({ into: { ...german.into, set: { lifecyclestag: 'lead' } } })
  await expect(runScheduleNow(house.context, 'weekly')).rejects.toThrow(/no property lifecyclestag/)
})

test('a page that cannot be used fails the occurrence, with the reason, and is not bought twice', async () => {
  await open()
  sandbox.faults.set({ droppedFilters: [{ key: 'countries', silent: false }] })
  const failed = await runNow()
  expect(failed).toMatchObject({ state: 'failed', run_id: null })
  expect(failed.reason).toMatch(/^1 page bought: .*ignored countries/)
  expect(await runNow()).toMatchObject({ state: 'failed' })
  expect(await transfers()).toBe(1)
})
