import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { setSpending } from '../../src/app/money/spend-switch.ts'
import { listSchedules, runScheduleNow } from '../../src/app/schedules/schedule-commands.ts'
import { startSchedules, type Schedules } from '../../src/app/schedules/scheduler.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { openCrmHouse, quick, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let at: Date
const started: Schedules[] = []

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  for (const schedules of started.splice(0)) await schedules.stop(5_000)
  await house.close()
})

const cap = '0.05'
const operations = ['company.search', 'job.search', 'cloud.search']

/** A CRM with four companies of the world, and a pipeline that runs each Monday. */
async function open(pipeline: object = {}, schedule: object = {}): Promise<void> {
  at = new Date('2037-11-23T08:00:00Z')
  sandbox.clock.set(at)
  house = await openCrmHouse(sandbox, {
    config: {
      payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, cap])) },
      connectors: quick,
      signals: { moves: { accounts: { connector: 'hubspot' }, types: ['job', 'cloud'], ...pipeline } },
      schedules: { weekly: { signals: 'moves', cron: '0 6 * * 1', budgetUsd: '5', ...schedule } },
    } as never,
    env: { PAYDIRT_PORT: '0' },
    overrides: { now: () => at },
  })
  for (const { name, domain } of worldCompanies().slice(0, 4)) house.add('companies', { name, domain })
}

async function schedules(): Promise<Schedules> {
  const begun = await startSchedules(house.context, { everyMs: 3_600_000, retryMs: 50 })
  started.push(begun)
  return begun
}

const transfers = async () => (await sandbox.transfersFrom(house.wallet)).length
const lastTurn = () =>
  house.context.database.db
    .selectFrom('schedule_turns')
    .selectAll()
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()

/** Waits until the last occurrence has been worked on, and returns it. */
async function worked(begun: Schedules) {
  await begun.look()
  return vi.waitFor(
    async () => {
      const turn = await lastTurn()
      expect(turn.state).not.toBe('scanning')
      expect(turn.reason).not.toBeNull()
      return turn
    },
    { timeout: 60_000, interval: 50 },
  )
}

test('a pipeline runs on its schedule: what is due is bought once, written, and shown', async () => {
  await open()
  const begun = await schedules()
  expect(await runScheduleNow(house.context, 'weekly')).toBe(1)
  const first = await worked(begun)
  expect(first).toMatchObject({ state: 'handed_over', connector: 'hubspot', entity: 'companies' })
  expect(first.reason).toMatch(/^8 of 8 due checks made, \d+ answers bought, 4 records written$/)
  expect(await house.context.runs.get(first.run_id ?? '')).toMatchObject({ state: 'finished', records: 4 })
  const bought = await transfers()
  expect(bought).toBeGreaterThan(0)

  // The same morning again: nothing is due.
  at = new Date(at.getTime() + 1_000)
  expect(await runScheduleNow(house.context, 'weekly')).toBe(1)
  expect(await worked(begun)).toMatchObject({
    state: 'handed_over',
    reason: '0 of 0 due checks made, 0 answers bought, 0 records written',
  })
  expect(await transfers()).toBe(bought)

  // A week later its planned time comes by itself.
  at = new Date('2037-11-30T06:00:01Z')
  sandbox.clock.set(at)
  const third = await worked(begun)
  expect(third).toMatchObject({ cause: 'cron', planned_at: new Date('2037-11-30T06:00:00Z') })
  expect(await listSchedules(house.context)).toMatchObject([
    { name: 'weekly', signals: 'moves', connector: 'hubspot', budgetUsd: '5.000000' },
  ])
})

test('the cap of the month parks it until the next month begins, and it goes on by itself then', async () => {
  // The search that finds the companies leaves too little for a question.
  await open({ types: ['job'], budgetMonthUsd: '0.05' })
  const begun = await schedules()
  await runScheduleNow(house.context, 'weekly')
  const parked = await worked(begun)
  expect(parked).toMatchObject({ state: 'due', not_before: new Date('2037-12-01T00:00:00Z') })
  expect(parked.reason).toContain('signals.moves.budgetMonthUsd')
  const bought = await transfers()

  at = new Date('2037-11-29T12:00:00Z')
  await begun.look()
  expect(await lastTurn()).toMatchObject({ id: parked.id, state: 'due' })
  expect(await transfers()).toBe(bought)

  at = new Date('2037-12-01T00:00:01Z')
  sandbox.clock.set(at)
  await house.context.database.db.updateTable('schedules').set({ handled_until: at }).execute()
  await begun.look()
  await vi.waitFor(async () => expect(await transfers()).toBeGreaterThan(bought), {
    timeout: 60_000,
    interval: 50,
  })
  await vi.waitFor(async () => expect((await lastTurn()).state).not.toBe('scanning'), {
    timeout: 60_000,
    interval: 50,
  })
})

test('the kill switch holds it, and it goes on once spending is resumed', async () => {
  await open()
  const begun = await schedules()
  await setSpending(house.context, 'stop')
  await runScheduleNow(house.context, 'weekly')
  const held = await worked(begun)
  expect(held).toMatchObject({ state: 'due', not_before: new Date(at.getTime() + 900_000) })
  expect(await transfers()).toBe(0)

  await setSpending(house.context, 'resume')
  at = new Date(at.getTime() + 900_001)
  await begun.look()
  await vi.waitFor(async () => expect(await lastTurn()).toMatchObject({ state: 'handed_over' }), {
    timeout: 60_000,
    interval: 50,
  })
  expect(await transfers()).toBeGreaterThan(0)
})
