import { describe, expect, test } from 'vitest'
import {
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
} from '../../src/app/schedules/schedule-commands.ts'
import { stamp } from '../../src/http/desk/view/format.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { startPlannedSync } from '../support/planned-sync.ts'
import {
  at,
  clock,
  company,
  house,
  nightly,
  open,
  scheduler,
  started,
  statesAre,
  turns,
  until,
  useSchedules,
  windowed,
} from '../integration/schedules.fixture.ts'

useSchedules()

describe('a schedule', () => {
  test('begins at its time, stops at the end of its window, and goes on the next night', async () => {
    await open({ nightly: windowed })
    const { context } = house
    for (const name of ['alpha', 'beta', 'gamma']) house.add('companies', company(name))
    const schedules = await scheduler()
    expect(await listSchedules(context)).toMatchObject([
      { name: 'nightly', isPaused: false, nextAt: new Date('2026-11-20T01:00:00Z'), last: [] },
    ])
    await schedules.look()
    expect(await turns()).toEqual([])

    at('2026-11-20T01:00:01Z')
    await schedules.look()
    await statesAre(['handed_over'])
    const [first] = await turns()
    expect(first).toMatchObject({
      cause: 'cron',
      planned_at: new Date('2026-11-20T01:00:00Z'),
      start_by: new Date('2026-11-20T03:00:00Z'),
      stop_at: new Date('2026-11-20T05:00:00Z'),
    })
    const runId = first?.run_id ?? ''
    expect(await context.runs.get(runId)).toMatchObject({ state: 'working', records: 3, trigger: 'schedule' })

    at('2026-11-20T04:59:59Z')
    await schedules.look()
    await updateRunStates(context.database.db, clock.now, ['csv'])
    expect((await context.runs.get(runId))?.state).toBe('working')
    at('2026-11-20T05:00:00Z')
    await schedules.look()
    await statesAre(['stopped'])
    await updateRunStates(context.database.db, clock.now, ['csv'])
    expect(await context.tasks.counts(runId)).toMatchObject({ parked: 3, looking_up: 0 })
    expect(await context.lookups.lease(10, 1_000, false, { connectors: ['hubspot'] })).toEqual([])

    const added = house.add('companies', company('delta'))
    at('2026-11-21T01:00:00Z')
    await schedules.look()
    await statesAre(['handed_over', 'handed_over'])
    const [, second] = await turns()
    expect(second?.run_id).not.toBe(runId)
    const records = await context.tasks.page(second?.run_id ?? '', 0, 10)
    expect(records.map(({ recordId }) => recordId)).toContain(added)
    await updateRunStates(context.database.db, clock.now, ['csv'])
    const due = await context.lookups.lease(10, 1_000, false, { connectors: ['hubspot'] })
    expect(due).toHaveLength(4)
    expect((await context.runs.get(runId))?.state).toBe('working')
    // The new window holds for what went on.
    at('2026-11-21T05:00:00Z')
    await schedules.look()
    await statesAre(['stopped', 'stopped'])
  })

  test('catches up once after nights without a scheduler, and calls a night past its window missed', async () => {
    await open({ catching: { ...nightly }, strict: { ...windowed, object: 'contacts' } })
    house.add('companies', company('alpha'))
    await (await scheduler()).stop(0)
    started.pop()
    at('2026-11-23T09:00:00Z')
    const schedules = await scheduler()
    await schedules.look()
    await until(async () =>
      expect((await turns()).map(({ schedule, state, cause }) => [schedule, state, cause])).toEqual([
        ['catching', 'handed_over', 'catch_up'],
        ['strict', 'missed', 'catch_up'],
      ]),
    )
    expect((await turns())[0]?.planned_at).toEqual(new Date('2026-11-23T01:00:00Z'))
    await schedules.look()
    expect(await turns()).toHaveLength(2)
    const [, strict] = await listSchedules(house.context)
    expect(strict?.last).toMatchObject([{ state: 'missed', reason: 'it could not begin within its window' }])
  })

  test('that is paused stays so over a restart, and after it goes on with its next time', async () => {
    await open({ nightly })
    await scheduler()
    await pauseSchedule(house.context, 'nightly', 'ops')
    await started.pop()?.stop(0)
    at('2026-11-20T09:00:00Z')
    const schedules = await scheduler()
    await schedules.look()
    expect(await turns()).toEqual([])
    expect(await listSchedules(house.context)).toMatchObject([
      { isPaused: true, pausedBy: 'ops', nextAt: null },
    ])
    await resumeSchedule(house.context, 'nightly')
    await schedules.look()
    expect(await turns()).toEqual([])
    expect(await listSchedules(house.context)).toMatchObject([{ nextAt: new Date('2026-11-21T01:00:00Z') }])
    at('2026-11-21T01:00:00Z')
    await schedules.look()
    await statesAre(['handed_over'])
  })

  test('has one run at a time: a turn waits for the run before it, and is missed when the next one is due', async () => {
    await open({ hourly: { ...nightly, cron: '0 * * * *' } })
    house.add('companies', company('alpha'))
    const schedules = await scheduler({ retryMs: 60_000 })
    at('2026-11-20T01:00:00Z')
    await schedules.look()
    await statesAre(['handed_over'])
    at('2026-11-20T02:00:00Z')
    await schedules.look()
    await until(async () =>
      expect((await turns())[1]).toMatchObject({ state: 'due', reason: 'waits for the run before it' }),
    )
    at('2026-11-20T03:00:00Z')
    await schedules.look()
    await statesAre(['handed_over', 'missed', 'due'])
    const [first] = await turns()
    await house.context.runs.setState(first?.run_id ?? '', 'finished')
    at('2026-11-20T03:10:00Z')
    await schedules.look()
    await statesAre(['handed_over', 'missed', 'handed_over'])
  })

  test('is shared by two schedulers: each planned time is one turn, and a turn is taken once', async () => {
    await open({ companies: nightly, contacts: { ...nightly, object: 'contacts' } })
    house.add('companies', company('alpha'))
    const both = [await scheduler(), await scheduler()]
    at('2026-11-20T01:00:00Z')
    await Promise.all(both.flatMap((each) => [each.look(), each.look()]))
    await statesAre(['handed_over', 'handed_over'])
    expect(await house.context.runs.list(10)).toHaveLength(2)
  })

  test('that a person must mend fails with its reason, and keeps nobody from the next turn', async () => {
    await open({ nightly })
    house.hubspot.auth.revokeAccessToken()
    const schedules = await scheduler()
    at('2026-11-20T01:00:00Z')
    await schedules.look()
    await statesAre(['failed'])
    expect((await turns())[0]?.reason).toMatch(/token/i)
    at('2026-11-21T01:00:00Z')
    await schedules.look()
    await statesAre(['failed', 'failed'])
  })

  test('is run now on demand, also while it is paused; and a sync is begun without a schedule', async () => {
    await open({ nightly: { ...nightly, refresh: true, limit: 5 } })
    house.add('companies', company('alpha'))
    const { context } = house
    await pauseSchedule(context, 'nightly', 'ops')
    await runScheduleNow(context, 'nightly')
    const { runId } = await startPlannedSync(context, 'contacts')
    await expect(runScheduleNow(context, 'weekly')).rejects.toThrow(
      /no schedule weekly; the config has nightly/,
    )
    const schedules = await scheduler()
    await schedules.look()
    await statesAre(['handed_over', 'handed_over'])
    const all = await turns()
    expect(all.map(({ cause }) => cause)).toEqual(['run_now', 'request'])
    const refreshed = await context.runs.get(all[0]?.run_id ?? '')
    expect(refreshed?.source).toMatchObject({ refresh: true, limit: 5 })
    // Nothing was ever answered, so there is nothing to ask again.
    expect(refreshed?.records).toBe(0)
    expect(await context.runs.get(runId)).toMatchObject({ trigger: 'request', entity: 'contacts' })
  })
})

describe('a schedule that is asked to run now', () => {
  test('has one occurrence, however often it is asked, until that was scanned', async () => {
    await open({ nightly })
    house.add('companies', company('alpha'))
    const { context } = house
    const asked = await Promise.all(Array.from({ length: 5 }, () => runScheduleNow(context, 'nightly')))
    expect(asked.sort()).toEqual([0, 0, 0, 0, 1])
    expect(await turns()).toMatchObject([{ cause: 'run_now', state: 'due', stop_at: null }])
    const schedules = await scheduler()
    await schedules.look()
    await statesAre(['handed_over'])
    clock.now = new Date(clock.now.getTime() + 1_000)
    expect(await runScheduleNow(context, 'nightly')).toBe(1)
    expect(await turns()).toHaveLength(2)
  })

  test('lists its next five times, over a change of the clocks', async () => {
    await open({ nightly: { ...nightly, cron: '30 2 * * *' } })
    await scheduler()
    at('2027-03-26T12:00:00Z')
    const [view] = await listSchedules(house.context)
    expect(view?.next).toHaveLength(5)
    expect(view?.nextAt).toEqual(view?.next[0])
    const times = view?.next.map((time) => stamp(time, clock.now, 'Europe/Berlin'))
    expect(times?.filter((time) => time.endsWith(' 02:30 Europe/Berlin'))).toHaveLength(4)
    expect(new Set(times?.map((time) => time.split(',')[0])).size).toBe(5)
  })
})
