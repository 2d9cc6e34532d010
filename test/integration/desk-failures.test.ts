import { describe, expect, test } from 'vitest'
import { retryGroup, skipGroup } from '../../src/store/runs/retry-and-skip.ts'
import { failureGroups } from '../../src/store/views/desk-failures.ts'
import { runHeads } from '../../src/store/views/desk-runs.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'

useDesk()
import {
  desk,
  since,
  minutesAgo,
  addRun,
  addTask,
  addLookup,
  addCharge,
  statusesOf,
  stateOf,
  useDesk,
} from './desk-rows.fixture.ts'

describe('a group of failures', () => {
  test('holds what came to nothing for one cause, with how many, and when it goes on', async () => {
    await addRun('r1')
    await addRun('r2', { state: 'finished' })
    const tomorrow = new Date('2026-11-21T00:00:00Z')
    const a = await addLookup('a', 'parked', {
      code: 'budget_day',
      reason: 'the budget of this day is used up',
      dueAt: tomorrow,
    })
    const b = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: a, reason: 'the budget of this day is used up' })
    await addTask('r2', 'parked', { lookup: a, reason: 'the budget of this day is used up' })
    await addTask('r1', 'parked', { lookup: b, reason: 'too dear' })
    await addTask('r2', 'rejected', { reason: 'industry: no such option (INVALID_OPTION)', record: '77' })
    await addTask('r2', 'rejected', { reason: 'long ago', at: new Date('2026-10-01T00:00:00Z') })
    await addTask('r1', 'written')
    const groups = await failureGroups(desk.db, since)
    expect(
      groups.map(({ status, code, reason, records, runs, resumesAt }) => ({
        status,
        code,
        reason,
        records,
        runs,
        resumesAt,
      })),
    ).toEqual(
      [
        {
          status: 'parked',
          code: 'budget_day',
          reason: 'the budget of this day is used up',
          records: 2,
          runs: 2,
          resumesAt: tomorrow,
        },
        expect.objectContaining({ reason: 'too dear', records: 1, resumesAt: null }),
        {
          status: 'rejected',
          code: null,
          reason: 'industry: no such option (INVALID_OPTION)',
          records: 1,
          runs: 1,
          resumesAt: null,
        },
      ].sort((x, y) => y.records - x.records),
    )
    expect(groups.find(({ status }) => status === 'rejected')?.example).toEqual({
      connector: 'hubspot',
      entity: 'companies',
      recordId: '77',
    })
  })

  test('that is parked goes on at once when it is tried again, and only it; a second press finds nothing', async () => {
    await addRun('r1', { state: 'parked' })
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    const b = await addLookup('b', 'parked', { code: 'stopped', reason: 'spending is stopped' })
    await addTask('r1', 'parked', { lookup: a, reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: b, reason: 'spending is stopped' })
    const options = { now: desk.now(), since, connectors: ['hubspot'] }
    const group = { status: 'parked', code: 'price', reason: 'too dear' } as const
    const first = await Promise.all([
      retryGroup(desk.db, group, options),
      retryGroup(desk.db, group, options),
    ])
    expect(first.map(({ records }) => records).sort()).toEqual([0, 1])
    expect(await statusesOf('r1')).toEqual(['looking_up', 'parked'])
    expect(await stateOf(a)).toMatchObject({ state: 'waiting', due_at: desk.now() })
    expect(await stateOf(b)).toMatchObject({ state: 'parked' })
  })

  test('of a run that was stopped starts it again', async () => {
    await addRun('r1', { state: 'stopped' })
    const a = await addLookup('a', 'parked', { code: 'run_stopped', reason: 'its run is stopped' })
    await addTask('r1', 'parked', { lookup: a, reason: 'its run is stopped' })
    const group = { status: 'parked', code: 'run_stopped', reason: 'its run is stopped' } as const
    expect(await retryGroup(desk.db, group, { now: desk.now(), since, connectors: [] })).toEqual({
      records: 1,
      left: 0,
    })
    expect((await runHeads(desk.db, { limit: 1 }))[0]?.state).toBe('working')
  })

  test('that was rejected waits for its answer again: a failed one is asked anew, a known one is not bought', async () => {
    await addRun('r1', { state: 'finished' })
    const failed = await addLookup('a', 'failed', { reason: 'timeout, 6 times' })
    const known = await addLookup('b', 'answered', { outcome: 'found' })
    await addTask('r1', 'rejected', { lookup: failed, reason: 'no luck' })
    await addTask('r1', 'rejected', { lookup: known, reason: 'no luck' })
    await addTask('r1', 'rejected', { reason: 'no luck' })
    const group = { status: 'rejected', code: null, reason: 'no luck' } as const
    const options = { now: desk.now(), since, connectors: ['hubspot'] }
    // The third was never looked up: there is nothing that it could wait for.
    expect(await retryGroup(desk.db, group, options)).toEqual({ records: 2, left: 1 })
    expect(await statusesOf('r1')).toEqual(['looking_up', 'looking_up', 'rejected'])
    expect(await stateOf(failed)).toMatchObject({ state: 'waiting', due_at: desk.now() })
    expect(await stateOf(known)).toMatchObject({ state: 'answered' })
    expect((await runHeads(desk.db, { limit: 1 }))[0]).toMatchObject({ state: 'working', finishedAt: null })
    expect(await retryGroup(desk.db, group, options)).toEqual({ records: 0, left: 1 })
    expect(await updateRunStates(desk.db, desk.now(), ['csv'])).toEqual([])
  })

  test('of a file, or of a run that another has followed, is left as it is', async () => {
    await addRun('r1', { state: 'finished', fingerprint: 'same', startedAt: minutesAgo(60) })
    await addRun('r2', { state: 'working', fingerprint: 'same', startedAt: minutesAgo(30) })
    await addRun('r3', { state: 'finished', connector: 'csv' })
    const failed = await addLookup('a', 'failed')
    for (const run of ['r1', 'r3']) await addTask(run, 'rejected', { lookup: failed, reason: 'no luck' })
    const group = { status: 'rejected', code: null, reason: 'no luck' } as const
    expect(await retryGroup(desk.db, group, { now: desk.now(), since, connectors: ['hubspot'] })).toEqual({
      records: 0,
      left: 2,
    })
    expect(await stateOf(failed)).toMatchObject({ state: 'failed' })
  })

  test('that is skipped ends with who said so, and nothing is bought for it any more', async () => {
    await addRun('r1')
    const mine = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    const shared = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    const paid = await addLookup('c', 'parked', { code: 'price', reason: 'too dear' })
    for (const lookup of [mine, shared, paid]) await addTask('r1', 'parked', { lookup, reason: 'too dear' })
    await addTask('r1', 'looking_up', { lookup: shared })
    await addCharge(paid, 'in_doubt', 10_000n, minutesAgo(1))
    const group = { code: 'price', reason: 'too dear' }
    expect(await skipGroup(desk.db, group, { now: desk.now(), by: 'otto' })).toBe(3)
    expect(await statusesOf('r1')).toEqual(['skipped', 'skipped', 'skipped', 'looking_up'])
    expect(await stateOf(mine)).toMatchObject({ state: 'failed', reason: 'skipped by otto' })
    // Somebody else waits for the one, and money may be under way for the other.
    expect(await stateOf(shared)).toMatchObject({ state: 'parked' })
    expect(await stateOf(paid)).toMatchObject({ state: 'parked' })
    expect(await skipGroup(desk.db, group, { now: desk.now(), by: 'otto' })).toBe(0)
  })

  test('is shown, retried and skipped on the page, and each is noted', async () => {
    await addRun('r1')
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'dear <img src=x onerror=alert(1)>' })
    await addTask('r1', 'parked', { lookup: a, reason: 'dear <img src=x onerror=alert(1)>' })
    const local = desk.browser()
    const page = await (await local.ask('/failures')).text()
    expect(page).toContain('dear &lt;img src=x onerror=alert(1)&gt;')
    expect(page).not.toContain('<img')
    const group = /name="group" value="(\w+)"/.exec(page)?.[1] ?? ''
    const skipped = await local.ask('/failures/skip', { form: { group } })
    expect(skipped.headers.get('location')).toBe('/failures?done=skipped')
    expect((await local.ask('/failures/skip', { form: { group } })).headers.get('location')).toBe(
      '/failures?done=nothing',
    )
    expect((await local.ask('/failures/retry', { form: { group } })).headers.get('location')).toBe(
      '/failures?done=nothing',
    )
    expect(await desk.audit.list(5)).toMatchObject([
      { actor: 'local', action: 'failures.skip', target: 'parked: price', details: { records: 1 } },
    ])
  })
})
