import { describe, expect, test } from 'vitest'
import { stopOneRun } from '../../src/app/runs/stop-run.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { resumeRun } from '../../src/store/runs/run-stops.ts'
import { createScheduleLedger } from '../../src/store/runs/schedules.ts'
import { startPlannedSync } from '../support/planned-sync.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { addOccurrence } from './occurrence.fixture.ts'
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
} from './schedules.fixture.ts'

useSchedules()

describe('a schedule', () => {
  test('whose scheduler dies in mid scan is gone on with by another, with the same run and no record twice', async () => {
    await open({ nightly })
    for (let index = 0; index < 250; index += 1) house.add('companies', company(`c${index}`))
    const { context } = house
    at('2026-11-20T01:00:00Z')
    const ledger = createScheduleLedger(context.database.db, { now: () => clock.now })
    await ledger.register(['nightly'])
    // A scheduler that was killed after a page leaves this behind: a lease that nobody renews.
    const id = await addOccurrence(context.database.db, 'nightly', () => clock.now)
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
        page.records.map(({ id: recordId, identity }, index) =>
          scannedTask(index + 1, null, { recordId, identity, status: 'skipped' }),
        ),
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
    await startPlannedSync(context, 'companies')
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
