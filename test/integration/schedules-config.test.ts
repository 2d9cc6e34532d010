import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { fileSchema, type FileConfig } from '../../src/app/config/file.ts'
import { startSchedules, type Schedules, type SchedulesOptions } from '../../src/app/schedules/scheduler.ts'
import { start } from '../../src/app/start.ts'
import { createScheduleQueue } from '../../src/queues/schedules.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createScheduleLedger } from '../../src/store/runs/schedules.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'

const nightly = {
  connector: 'hubspot',
  object: 'companies',
  cron: '0 2 * * *',
  timeZone: 'Europe/Berlin',
} as const

let sandbox: Sandbox
let house: CrmHouse
let clock: Date
const started: Schedules[] = []
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

afterEach(async () => {
  for (const schedules of started.splice(0)) await schedules.stop(5_000)
  await house.close()
})

async function open(schedules: FileConfig['schedules'], options: { realTime?: boolean } = {}) {
  clock = new Date('2026-11-20T00:30:00Z')
  house = await openCrmHouse(sandbox, {
    config: { ...checked({ schedules }), connectors: quick },
    env: { PAYDIRT_PORT: '0' },
    ...(options.realTime ? {} : { overrides: { now: () => clock } }),
  })
}

/** As the file is read: with its defaults. */
function checked(config: FileConfig): FileConfig {
  return fileSchema.parse(config) as FileConfig
}

async function scheduler(options: SchedulesOptions = {}): Promise<Schedules> {
  // Only what a test calls for: rounds of their own would come at real times.
  const schedules = await startSchedules(house.context, { everyMs: 3_600_000, ...options })
  started.push(schedules)
  return schedules
}

const turns = () => house.context.database.db.selectFrom('schedule_turns').selectAll().orderBy('id').execute()
const until = <T>(condition: () => Promise<T>) => vi.waitFor(condition, { timeout: 20_000, interval: 20 })
const company = (name: string) => ({ name, profnet_url: urlOf(name) })
const urlOf = (name: string) => `https://www.profnet.com/company/${name}`

describe('schedules in the config', () => {
  test('name no object or CRM that there is not', async () => {
    await open({ nightly: { ...nightly, object: 'Lead' } })
    await expect(startSchedules(house.context)).rejects.toThrow(/schedules\.nightly: hubspot has no Lead/)
    await house.close()
    await open({ nightly: { ...nightly, connector: 'salesforce' } })
    await expect(startSchedules(house.context)).rejects.toThrow(
      /schedules\.nightly: salesforce is not set up/,
    )
  })

  test('that are gone from it are gone from Redis too, and come back when Redis was emptied', async () => {
    await open({ nightly })
    const { redis } = (await house.context.openEngine()).redis
    const queue = createScheduleQueue(redis, {
      prefix: house.context.config.redisPrefix,
      onError: () => {},
    })
    await queue.setSchedulers([
      { name: 'old', cron: '0 3 * * *', timeZone: 'UTC' },
      { name: 'nightly', cron: '0 3 * * *', timeZone: 'UTC' },
    ])
    const ledger = createScheduleLedger(house.context.database.db, { now: () => clock })
    const turn = { connector: 'hubspot', entity: 'companies', recipe: null, limit: null, refresh: false }
    const planned = { cause: 'cron', plannedAt: clock, startBy: null, stopAt: null } as const
    await ledger.addOccurrence({ ...turn, ...planned, schedule: 'old' })
    const schedules = await scheduler()
    expect(await turns()).toMatchObject([
      { state: 'missed', reason: 'its schedule was removed from the config' },
    ])
    expect(await queue.count()).toBe(1)
    await queue.setSchedulers([])
    await schedules.look()
    expect(await queue.count()).toBe(1)
    await queue.close()
  })
})

test('BullMQ wakes the schedule each second, and the whole service carries the run to its end', async () => {
  await open({ often: { ...nightly, cron: '* * * * * *', timeZone: 'UTC' } }, { realTime: true })
  const { context } = house
  const names = Array.from({ length: 10 }, (_, index) => `often-${index}`)
  const answers = names.map((name) => companyAnswer(urlOf(name)).data)
  const ids = names.map((name) => house.add('companies', company(name)))
  const running = await start(context, 'all')
  try {
    await until(async () => {
      const done = (await turns()).filter(({ cause, state }) => cause === 'cron' && state === 'handed_over')
      const states = await Promise.all(done.map(async ({ run_id: run }) => context.runs.get(run ?? '')))
      expect(states.filter((run) => run?.state === 'finished').length).toBeGreaterThanOrEqual(2)
    })
  } finally {
    await running.stop()
  }
  const filled = answers.filter((answer) => answer?.description).length
  expect(filled).toBeGreaterThan(3)
  expect(ids.filter((id) => house.seen('companies').get(id)?.['description']).length).toBe(filled)
  const all = await turns()
  const planned = all.map(({ planned_at: plannedAt }) => plannedAt.getTime())
  expect(new Set(planned).size).toBe(planned.length)
  // One run at a time: each was closed before the next was opened.
  const runs = (await context.runs.list(100)).filter(({ finishedAt }) => finishedAt !== null).reverse()
  for (const [index, run] of runs.slice(1).entries())
    expect(run.startedAt.getTime()).toBeGreaterThanOrEqual(runs[index]?.finishedAt?.getTime() ?? Infinity)
  expect((await house.transfers()).length).toBe((await house.nonces()).length)
})
