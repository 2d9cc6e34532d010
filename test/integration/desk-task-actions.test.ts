import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { actionsOn, retryTask, skipTask } from '../../src/store/failures/retry-one.ts'
import { retryGroup } from '../../src/store/runs/retry-and-skip.ts'
import {
  addCharge,
  addLookup,
  addRun,
  addTask,
  desk,
  minutesAgo,
  since,
  stateOf,
  statusesOf,
  useDesk,
} from './desk-rows.fixture.ts'

useDesk()

const limits = () => ({ since, connectors: ['hubspot'], now: desk.now() })

describe('one parked task', () => {
  test('is retried: its lookup is due for all that wait for it, and for no other', async () => {
    await addRun('r1', { state: 'parked' })
    await addRun('r2', { state: 'working' })
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    const b = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    const id = await addTask('r1', 'parked', { lookup: a, reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: b, reason: 'too dear' })
    await addTask('r2', 'parked', { lookup: a, reason: 'too dear' })
    expect(await actionsOn(desk.db, id, limits())).toEqual(['retry_parked', 'skip'])
    const pressed = await Promise.all([retryTask(desk.db, id, limits()), retryTask(desk.db, id, limits())])
    expect(pressed.sort()).toEqual([false, true])
    expect(await statusesOf('r1')).toEqual(['looking_up', 'parked'])
    expect(await statusesOf('r2')).toEqual(['looking_up'])
    expect(await stateOf(a)).toMatchObject({ state: 'waiting', due_at: desk.now() })
    expect(await stateOf(b)).toMatchObject({ state: 'parked' })
  })

  test('of a stopped run is not retried alone, because its run would start to buy', async () => {
    await addRun('r1', { state: 'stopped' })
    const a = await addLookup('a', 'parked', { code: 'run_stopped', reason: 'its run is stopped' })
    const id = await addTask('r1', 'parked', { lookup: a })
    expect(await actionsOn(desk.db, id, limits())).toEqual(['skip'])
    expect(await retryTask(desk.db, id, limits())).toBe(false)
    const { state } = await desk.db.selectFrom('runs').select('state').executeTakeFirstOrThrow()
    expect(state).toBe('stopped')
    expect(await (await desk.browser().ask(`/tasks/${id}`)).text()).toContain('Resume the run')
  })

  test('whose payment is in doubt is asked for again under the same charge', async () => {
    await addRun('r1', { state: 'parked' })
    const a = await addLookup('a', 'parked', { code: 'in_doubt', reason: 'a payment is in doubt' })
    const id = await addTask('r1', 'parked', { lookup: a })
    await addCharge(a, 'in_doubt', 10_000n, minutesAgo(1))
    expect(await retryTask(desk.db, id, limits())).toBe(true)
    const charges = await desk.db.selectFrom('charges').select('state').execute()
    expect(charges).toEqual([{ state: 'in_doubt' }])
  })

  test.each(['one', 'group'])(
    'whose late answer is stored while it is retried (%s) keeps the answer, and is not asked for again',
    async (kind) => {
      await addRun('r1', { state: 'parked' })
      const a = await addLookup('a', 'parked', { code: 'in_doubt', reason: 'in doubt' })
      const id = await addTask('r1', 'parked', { lookup: a, reason: 'in doubt' })
      const retry = () =>
        kind === 'one'
          ? retryTask(desk.db, id, limits())
          : retryGroup(desk.db, { status: 'parked', code: 'in_doubt', reason: 'in doubt' }, limits())
      let retried: Promise<unknown> | undefined
      await desk.db.transaction().execute(async (tx) => {
        await sql`update lookups set state = 'answered', outcome = 'found' where key = ${a}`.execute(tx)
        retried = retry()
        // On a server the retry now waits for this row. The embedded database runs it after this transaction.
        await awaitBlocked()
      })
      await retried
      expect(await stateOf(a)).toMatchObject({ state: 'answered' })
    },
  )

  /** Resolves when a statement of another connection waits for a lock. */
  async function awaitBlocked(): Promise<void> {
    if (process.env['DATABASE_URL'] === undefined) return
    for (;;) {
      const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`.execute(desk.db)
      if (rows.length > 0) return
    }
  }

  test('is skipped with who did it and why, and nothing is bought for it', async () => {
    await addRun('r1')
    const mine = await addLookup('a', 'parked', { code: 'price' })
    const shared = await addLookup('b', 'parked', { code: 'price' })
    const paid = await addLookup('c', 'parked', { code: 'price' })
    const started = await addLookup('d', 'parked', { code: 'price' })
    const batch = await addLookup('batch', 'parked', { code: 'in_doubt' })
    const inBatch = await addLookup('e', 'waiting')
    await sql`update lookups set query_id = 'q' where key = ${started}`.execute(desk.db)
    await sql`update lookups set bundle_key = ${batch} where key = ${inBatch}`.execute(desk.db)
    const ids = []
    for (const lookup of [mine, shared, paid, started, inBatch])
      ids.push(await addTask('r1', 'parked', { lookup }))
    await addTask('r1', 'looking_up', { lookup: shared })
    for (const lookup of [paid, batch]) await addCharge(lookup, 'in_doubt', 10_000n, minutesAgo(1))
    for (const id of ids)
      expect(await skipTask(desk.db, id, { now: desk.now(), by: 'otto', why: 'a test record' })).toBe(true)
    expect(await skipTask(desk.db, ids[0]!, { now: desk.now(), by: 'otto', why: '' })).toBe(false)
    const rows = await desk.db
      .selectFrom('tasks')
      .select(['status', 'reason', 'waiting_for'])
      .orderBy('id')
      .execute()
    expect(rows[0]).toEqual({
      status: 'skipped',
      reason: 'skipped by otto: a test record',
      waiting_for: null,
    })
    expect(await stateOf(mine)).toMatchObject({ state: 'failed', reason: 'skipped by otto' })
    // Another task waits; a payment is open, alone or in a batch; a paid answer is still to come.
    for (const lookup of [shared, paid, started])
      expect(await stateOf(lookup)).toMatchObject({ state: 'parked' })
    expect(await stateOf(inBatch)).toMatchObject({ state: 'waiting' })
  })
})

describe('one rejected task', () => {
  test('waits for its last lookup again: a failed one is asked for, a known one is not bought', async () => {
    await addRun('r1', { state: 'finished' })
    const failed = await addLookup('a', 'failed', { reason: 'timeout' })
    const known = await addLookup('b', 'answered', { outcome: 'found' })
    const [one, two] = [
      await addTask('r1', 'rejected', { lookup: failed }),
      await addTask('r1', 'rejected', { lookup: known }),
    ]
    const three = await addTask('r1', 'rejected')
    for (const id of [one, two]) {
      expect(await actionsOn(desk.db, id, limits())).toEqual(['retry_rejected'])
      expect(await retryTask(desk.db, id, limits())).toBe(true)
      expect(await retryTask(desk.db, id, limits())).toBe(false)
    }
    // It was never looked up: there is nothing that it could wait for.
    expect(await actionsOn(desk.db, three, limits())).toEqual([])
    expect(await statusesOf('r1')).toEqual(['looking_up', 'looking_up', 'rejected'])
    expect(await stateOf(failed)).toMatchObject({ state: 'waiting' })
    expect(await stateOf(known)).toMatchObject({ state: 'answered' })
  })

  test('of a file, of an earlier run, or of long ago is left to a new run', async () => {
    const lookup = await (async () => {
      await addRun('r1', { state: 'finished', fingerprint: 'same', startedAt: minutesAgo(60) })
      return addLookup('a', 'failed')
    })()
    await addRun('r2', { state: 'finished', fingerprint: 'same', startedAt: minutesAgo(30) })
    await addRun('r3', { state: 'finished', connector: 'csv' })
    const ids = [
      await addTask('r1', 'rejected', { lookup }),
      await addTask('r3', 'rejected', { lookup }),
      await addTask('r2', 'rejected', { lookup, at: minutesAgo(60 * 24 * 20) }),
    ]
    for (const id of ids) {
      expect(await actionsOn(desk.db, id, limits())).toEqual([])
      expect(await retryTask(desk.db, id, limits())).toBe(false)
    }
    expect(await actionsOn(desk.db, await addTask('r2', 'rejected', { lookup }), limits())).toEqual([
      'retry_rejected',
    ])
  })
})
