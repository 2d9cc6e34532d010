import { describe, expect, test } from 'vitest'
import { startSchedules } from '../../src/app/schedules/scheduler.ts'
import { start } from '../../src/app/start.ts'
import { createScheduleQueue } from '../../src/queues/schedules.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import {
  clock,
  company,
  house,
  nightly,
  open,
  scheduler,
  turns,
  until,
  urlOf,
  useSchedules,
} from './schedules.fixture.ts'
import { addOccurrence } from './occurrence.fixture.ts'

useSchedules()

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
    await addOccurrence(house.context.database.db, 'old', () => clock.now)
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
