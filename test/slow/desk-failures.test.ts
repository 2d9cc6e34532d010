import { describe, expect, test } from 'vitest'
import { retryFailed, retryGroup, skipGroup } from '../../src/store/runs/retry-and-skip.ts'
import { stopRun } from '../../src/store/runs/run-stops.ts'
import { failureGroups, retryableOf } from '../../src/store/views/desk-failures.ts'
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
} from '../integration/desk-rows.fixture.ts'

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
    const groups = await failureGroups(desk.db, { since, connectors: ['hubspot'] })
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
    expect(await retryGroup(desk.db, group, { now: desk.now(), since, connectors: ['hubspot'] })).toEqual({
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
    // Another record waits for the one, and money may be under way for the other.
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

  test('of ragged rows is one cause with its places, without a button that does nothing', async () => {
    await addRun('f1', { connector: 'csv', state: 'finished', source: { file: 'leads.csv' } })
    await addRun('f2', { connector: 'csv', state: 'finished', source: { file: 'old.csv' } })
    for (let line = 2; line < 16; line += 1)
      await addTask('f1', 'rejected', {
        reason: `too few cells, ${line % 5} where the header has 7`,
        record: String(line),
      })
    await addTask('f2', 'rejected', {
      reason: 'line 9: too few cells, 2 where the header has 3',
      record: '9',
    })
    await addTask('f2', 'rejected', { reason: 'too many cells, 4 where the header has 3', record: '11' })
    const options = { since, connectors: ['hubspot'] }
    const [few, many, ...rest] = await failureGroups(desk.db, options)
    expect(rest).toEqual([])
    expect(few).toMatchObject({
      reason: 'too few cells',
      records: 15,
      runs: 2,
      retryable: 0,
      places: [
        { file: 'leads.csv', lines: Array.from({ length: 12 }, (_, index) => String(index + 2)), more: 2 },
        { file: 'old.csv', lines: ['9'], more: 0 },
      ],
    })
    expect(many).toMatchObject({ reason: 'too many cells', records: 1 })
    const local = desk.browser()
    const page = await (await local.ask('/failures')).text()
    expect(page).not.toContain('action="/failures/retry"')
    expect(page.replaceAll(/\s+/g, ' ')).toMatch(
      /leads\.csv<\/bdi>: lines <bdi>2<\/bdi>, <bdi>3<\/bdi>, .*, <bdi>13<\/bdi> and 2 more/,
    )
    expect(page).toContain('<code>paydirt csv</code>')
    const records = await (await local.ask(`/failures/${few?.id}`)).text()
    expect(records.match(/line <bdi>/g)).toHaveLength(15)
    expect((await (await local.ask('/runs/f1')).text()).match(/too few cells/g)).not.toHaveLength(0)
    expect((await local.ask('/failures/none')).status).toBe(404)
  })

  test('offers to retry what a retry takes up, and says what to do about the rest', async () => {
    await addRun('r1', { state: 'finished', fingerprint: 'a' })
    await addRun('r2', { state: 'finished', fingerprint: 'b', startedAt: minutesAgo(60) })
    await addRun('r3', { state: 'finished', fingerprint: 'b', startedAt: minutesAgo(30) })
    await addRun('r4', { state: 'stopped', fingerprint: 'c' })
    await stopRun(desk.db, 'r4', { by: 'otto', reason: '', now: desk.now() })
    const failed = await addLookup('a', 'failed')
    for (const run of ['r1', 'r2', 'r4'])
      await addTask(run, 'rejected', { lookup: failed, reason: 'no luck' })
    const [group] = await failureGroups(desk.db, { since, connectors: ['hubspot'] })
    expect(group).toMatchObject({ records: 3, retryable: 1, held: 1, places: [] })
    const page = (await (await desk.browser().ask('/failures')).text()).replaceAll(/\s+/g, ' ')
    expect(page).toContain('Retry 1 of 3')
    expect(page).toContain('1 record of a run that a person stopped')
    expect(page).toContain('A new sync takes it up again')
    const options = { now: desk.now(), since, connectors: ['hubspot'] }
    expect(await retryGroup(desk.db, { status: 'rejected', code: null, reason: 'no luck' }, options)).toEqual(
      {
        records: 1,
        left: 2,
      },
    )
  })

  test('does not count what a stop has parked: a resume takes that up', async () => {
    await addRun('r1', { state: 'parked' })
    const lookup = await addLookup('a', 'parked', { code: 'run_stopped', reason: 'its run is stopped' })
    const dear = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    await addTask('r1', 'parked', { lookup, reason: 'its run is stopped' })
    await addTask('r1', 'parked', { lookup: dear, reason: 'too dear' })
    expect(await retryableOf(desk.db, 'r1', ['hubspot'])).toBe(1)
    const options = { now: desk.now(), connectors: ['hubspot'] }
    expect(await retryFailed(desk.db, 'r1', options)).toEqual({ records: 1, left: 0 })
    expect(await statusesOf('r1')).toEqual(['parked', 'looking_up'])
  })

  test('of one run is retried alone, what waits for a person too', async () => {
    await addRun('r1', { state: 'finished' })
    await addRun('r2', { state: 'finished' })
    const failed = await addLookup('a', 'failed')
    const blocked = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    const due = new Date(desk.now().getTime() + 60_000)
    const waits = await addLookup('c', 'parked', { code: 'budget_day', reason: 'full', dueAt: due })
    for (const run of ['r1', 'r2']) await addTask(run, 'rejected', { lookup: failed, reason: 'no luck' })
    await addTask('r1', 'parked', { lookup: blocked, reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: waits, reason: 'full' })
    const options = { now: desk.now(), connectors: ['hubspot'] }
    expect(await retryFailed(desk.db, 'r1', options)).toEqual({ records: 2, left: 0 })
    expect(await statusesOf('r1')).toEqual(['looking_up', 'looking_up', 'parked'])
    expect(await statusesOf('r2')).toEqual(['rejected'])
    expect((await runHeads(desk.db, { limit: 2 })).map(({ id, state }) => [id, state]).sort()).toEqual([
      ['r1', 'working'],
      ['r2', 'finished'],
    ])
    expect(await retryFailed(desk.db, 'r1', options)).toEqual({ records: 0, left: 0 })
  })
})
