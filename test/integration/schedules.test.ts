import { describe, expect, test } from 'vitest'
import {
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  startSync,
} from '../../src/app/schedules/schedule-commands.ts'
import { stopOneRun } from '../../src/app/runs/stop-run.ts'
import { stamp } from '../../src/http/desk/view/format.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { resumeRun } from '../../src/store/runs/run-stops.ts'
import { createScheduleLedger } from '../../src/store/runs/schedules.ts'
import {
  clock,
  company,
  house,
  nightly,
  open,
  scheduler,
  turns,
  until,
  useSchedules,
  started,
} from './schedules.fixture.ts'

useSchedules()

const windowed = { ...nightly, startNoLaterThan: '04:00', stopAt: '06:00' } as const

const at = (time: string) => void (clock.now = new Date(time))

const statesAre = (states: string[]) =>
  until(async () => expect((await turns()).map(({ state }) => state)).toEqual(states))

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

  test('whose scheduler dies in mid scan is gone on with by another, with the same run and no record twice', async () => {
    await open({ nightly })
    for (let index = 0; index < 250; index += 1) house.add('companies', company(`c${index}`))
    const { context } = house
    at('2026-11-20T01:00:00Z')
    const ledger = createScheduleLedger(context.database.db, { now: () => clock.now })
    await ledger.register(['nightly'])
    // A scheduler that was killed after a page leaves this behind: a lease that nobody renews.
    const id = await ledger.addOccurrence({
      schedule: 'nightly',
      connector: 'hubspot',
      entity: 'companies',
      recipe: null,
      limit: null,
      refresh: false,
      cause: 'cron',
      plannedAt: clock.now,
      startBy: null,
      stopAt: null,
    })
    expect(await ledger.claim(id, 'the dead', { leaseMs: 60_000, retryMs: 1_000 })).toMatchObject({ id })
    const { run } = await context.runs.open({
      id: 'broken-off',
      connector: 'hubspot',
      object: 'company',
      entity: 'companies',
      recipe: 'profile',
      trigger: 'schedule',
      fingerprint: 'broken-off',
      source: {},
    })
    await ledger.setRun(id, 'the dead', run.id)
    for await (const page of house.connector.scan('companies', { limit: 100 })) {
      await context.tasks.insertPage(
        run.id,
        page.records.map((record, index) => ({
          ordinal: index + 1,
          recordId: record.id,
          identity: record.identity,
          status: 'skipped',
          lookupKey: null,
          duplicateOf: null,
          waitingFor: null,
          reason: null,
        })),
        page.watermark,
      )
      break
    }
    const before = (await context.runs.get(run.id))?.records ?? 0
    expect(before).toBeGreaterThan(0)
    await scheduler()
    at('2026-11-20T01:00:59Z')
    expect(await ledger.claimable()).toEqual([])
    at('2026-11-20T01:01:00Z')
    await started[0]?.look()
    await until(async () =>
      expect((await turns()).find((turn) => turn.id === id)).toMatchObject({ state: 'handed_over' }),
    )
    const tasks = await context.tasks.page(run.id, 0, 1_000)
    expect(tasks).toHaveLength(250)
    expect(new Set(tasks.map(({ recordId }) => recordId)).size).toBe(250)
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
    const first = await startSync(context, { connector: 'hubspot', entity: 'contacts' })
    expect(await startSync(context, { connector: 'hubspot', entity: 'contacts' })).toEqual(first)
    await expect(startSync(context, { connector: 'hubspot', entity: 'Lead' })).rejects.toThrow(/no Lead/)
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
    expect(await context.runs.get(first.runId)).toMatchObject({ trigger: 'request', entity: 'contacts' })
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

describe('a run of a schedule that a person stops', () => {
  const order = { by: 'otto', reason: 'wrong mapping' }
  const resume = (id: string) =>
    resumeRun(house.context.database.db, id, { now: clock.now, background: ['hubspot'] })

  test('is left alone by the next night, which has a run of its own, and goes on when it is resumed', async () => {
    await open({ nightly: windowed })
    const { context } = house
    house.add('companies', company('alpha'))
    const schedules = await scheduler()
    at('2026-11-20T01:00:01Z')
    await schedules.look()
    await statesAre(['handed_over'])
    const id = (await turns())[0]?.run_id ?? ''
    await stopOneRun(context, id, order)
    expect(await turns()).toMatchObject([{ state: 'stopped', reason: 'stopped by otto: wrong mapping' }])
    // A scheduler that starts anew reads the order, as it is in the ledger alone.
    await started.pop()?.stop(0)
    at('2026-11-21T01:00:00Z')
    const next = await scheduler()
    await next.look()
    await statesAre(['stopped', 'handed_over'])
    expect((await turns())[1]?.run_id).not.toBe(id)
    await updateRunStates(context.database.db, clock.now, ['csv'])
    expect((await context.runs.get(id))?.state).toBe('stopped')

    expect(await resume(id)).toBe('workers')
    expect((await context.runs.get(id))?.state).toBe('working')
    // The person who resumed it decided about the time: the window does not end it.
    at('2026-11-21T05:00:00Z')
    await next.look()
    await statesAre(['handed_over', 'stopped'])
  })

  test('in the middle of its scan reads on where it was when it is resumed, with no record twice', async () => {
    await open({ nightly })
    const { context } = house
    for (const name of ['alpha', 'beta', 'gamma']) house.add('companies', company(name))
    at('2026-11-20T01:00:01Z')
    const ledger = createScheduleLedger(context.database.db, { now: () => clock.now })
    await startSync(context, { connector: 'hubspot', entity: 'companies' })
    const [turn] = await turns()
    const id = turn?.run_id ?? ''
    expect(await ledger.claim(turn!.id, 'dead', { leaseMs: 60_000, retryMs: 1_000 })).toBeDefined()
    await stopOneRun(context, id, order)
    expect(await ledger.renew(turn!.id, 'dead', 60_000)).toBe(false)
    const schedules = await scheduler()
    await schedules.look()
    await statesAre(['stopped'])
    expect(await resume(id)).toBe('scheduler')
    await schedules.look()
    await statesAre(['handed_over'])
    expect(await context.runs.get(id)).toMatchObject({ state: 'working', records: 3 })
  })
})
