import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { retryGroup } from '../../src/store/runs/retry-and-skip.ts'
import { actionsOn, retryTask, skipTask } from '../../src/store/failures/retry-one.ts'
import { openBareDesk } from './desk-fixture.ts'
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

/** Returns the id of the newest task. */
async function lastTask(): Promise<bigint> {
  const { id } = await desk.db
    .selectFrom('tasks')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return id
}

async function task(...args: Parameters<typeof addTask>): Promise<bigint> {
  await addTask(...args)
  return lastTask()
}

describe('one parked task', () => {
  test('is retried: its lookup is due for all that wait for it, and for no other', async () => {
    await addRun('r1', { state: 'parked' })
    await addRun('r2', { state: 'working' })
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    const b = await addLookup('b', 'parked', { code: 'price', reason: 'too dear' })
    const id = await task('r1', 'parked', { lookup: a, reason: 'too dear' })
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
    const id = await task('r1', 'parked', { lookup: a })
    expect(await actionsOn(desk.db, id, limits())).toEqual(['skip'])
    expect(await retryTask(desk.db, id, limits())).toBe(false)
    const { state } = await desk.db.selectFrom('runs').select('state').executeTakeFirstOrThrow()
    expect(state).toBe('stopped')
    expect(await (await desk.browser().ask(`/tasks/${id}`)).text()).toContain('Resume the run')
  })

  test('whose payment is in doubt is asked for again under the same charge', async () => {
    await addRun('r1', { state: 'parked' })
    const a = await addLookup('a', 'parked', { code: 'in_doubt', reason: 'a payment is in doubt' })
    const id = await task('r1', 'parked', { lookup: a })
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
      const id = await task('r1', 'parked', { lookup: a, reason: 'in doubt' })
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
      ids.push(await task('r1', 'parked', { lookup }))
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
      await task('r1', 'rejected', { lookup: failed }),
      await task('r1', 'rejected', { lookup: known }),
    ]
    const three = await task('r1', 'rejected')
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
      await task('r1', 'rejected', { lookup }),
      await task('r3', 'rejected', { lookup }),
      await task('r2', 'rejected', { lookup, at: minutesAgo(60 * 24 * 20) }),
    ]
    for (const id of ids) {
      expect(await actionsOn(desk.db, id, limits())).toEqual([])
      expect(await retryTask(desk.db, id, limits())).toBe(false)
    }
    expect(await actionsOn(desk.db, await task('r2', 'rejected', { lookup }), limits())).toEqual([
      'retry_rejected',
    ])
  })
})

describe('the page of a task', () => {
  const hash = `0x${'ab'.repeat(32)}`

  test('shows what it asked, lookups with their transactions, writes, reason and neighbours', async () => {
    await addRun('r1', { state: 'finished' })
    const lookup = await addLookup('a', 'answered', { outcome: 'found' })
    const before = await task('r1', 'written')
    const id = await task('r1', 'rejected', { lookup, reason: 'industry: no such option', record: '77' })
    const after = await task('r1', 'written')
    await addCharge(lookup, 'settled', 10_000n, minutesAgo(5))
    await sql`update charges set transaction = ${hash}, authorization_json = '{"terms":{"network":"eip155:8453"}}'`.execute(
      desk.db,
    )
    await sql`update tasks set identity = ${JSON.stringify({ firstName: 'Ann', lastName: '<b>Lee', email: 'ann@acme.com' })}::jsonb where id = ${id}`.execute(
      desk.db,
    )
    await desk.db
      .insertInto('field_writes')
      .values({
        task_id: id,
        run_id: 'r1',
        connector: 'hubspot',
        entity: 'companies',
        record_id: '77',
        field: 'industry',
        old_value: null,
        new_value: JSON.stringify('Tools & more'),
        lookup_key: lookup as LookupKey,
        price_atomic: 10_000n,
        currency: 'USD',
        state: 'rejected',
        code: 'INVALID_OPTION',
        intended_at: desk.now(),
      })
      .execute()
    const page = await (await desk.browser().ask(`/tasks/${id}`)).text()
    for (const text of [
      'Ann &lt;b&gt;Lee',
      'ann@acme.com',
      'industry: no such option',
      'profnet.test/company/a',
      'Tools &amp; more',
      'INVALID_OPTION',
      '$0.01',
      'no. 1',
      `href="/tasks/${before}"`,
      `href="/tasks/${after}"`,
      'href="/records?q=hubspot%3Acompanies%3A77"',
    ])
      expect(page).toContain(text)
    expect(page).not.toContain('<b>Lee')
    expect(page).toContain(`${hash.slice(0, 10)}…`)
    for (const path of ['/tasks/0', '/tasks/x', '/tasks/99999999999999999999'])
      expect((await desk.browser().ask(path)).status).toBe(404)
  })

  test('and that of a record link to the CRM and to the explorer of each chain that has one', async () => {
    const linked = await openBareDesk({
      open: true,
      links: {
        recordUrl: async ({ id }) => `https://crm.example/record/${id}`,
        transactionUrl: (network, transaction) =>
          network === 'eip155:8453' ? `https://explorer.example/tx/${transaction}` : undefined,
      },
      ports: {
        timeline: async (name) => ({
          ...name,
          tasks: [
            {
              task: 1n,
              run: 'r1',
              connector: 'hubspot',
              entity: 'companies',
              file: null,
              schedule: 'nightly',
              status: 'parked',
              reason: 'x'.repeat(5_000),
              at: new Date(),
              identity: { company: 'Acme \u202e Ltd' },
              lookups: [],
            },
          ],
          lookups: ['eip155:8453', 'eip155:1'].map((network) => ({
            key: `company.profile|${network}`,
            operation: 'company.profile',
            state: 'answered',
            outcome: 'found',
            answeredAt: null,
            freshUntil: null,
            charges: [
              {
                id: network,
                run: 'r1',
                state: 'settled',
                amountAtomic: 1n,
                currency: 'USD',
                at: new Date(),
                transaction: hash,
                network,
              },
            ],
          })),
          fields: [],
          spend: { settledAtomic: 0n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n },
          mergedFrom: ['9'],
          mergedInto: '10',
        }),
      },
    })
    try {
      const page = await (await linked.browser().ask('/records?q=HubSpot:companies:77')).text()
      expect(page).toContain('<h1><bdi>Acme \u202e Ltd</bdi></h1>')
      expect(page).toContain('href="https://crm.example/record/77" rel="noreferrer"')
      expect(page.match(/href="https:\/\/explorer\.example\/tx\/0x(ab)+"/g)).toHaveLength(1)
      expect(page).toContain('HubSpot companies (nightly)')
      expect(page).toContain('href="/tasks/1"')
      expect(page).toContain('href="/records?q=hubspot%3Acompanies%3A10"')
    } finally {
      await linked.close()
    }
  })

  test('changes only for operators, with the token of the form, and each change is audited without its reason', async () => {
    const locked = await openBareDesk()
    try {
      await sql`insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, started_at)
        values ('r1', 'hubspot', 'company', 'companies', 'profile', 'sync', 'working', 'f', '{}', now())`.execute(
        locked.db,
      )
      await sql`insert into lookups (key, operation, request, state, run_id, connector, due_at, code)
        values ('company.profile|x', 'company.profile', '{}', 'parked', 'r1', 'hubspot', '9999-01-01', 'price')`.execute(
        locked.db,
      )
      await sql`insert into tasks (run_id, ordinal, record_id, identity, status, waiting_for, updated_at)
        values ('r1', 1, '77', '{}', 'parked', 'company.profile|x', now())`.execute(locked.db)
      const [vera, otto] = [await locked.as('vera'), await locked.as('otto')]
      expect(await (await vera.ask('/tasks/1')).text()).not.toContain('/tasks/1/skip')
      for (const action of ['retry', 'skip']) {
        expect((await vera.ask(`/tasks/1/${action}`, { form: {} })).status).toBe(403)
        expect((await otto.ask(`/tasks/1/${action}`, { form: { _csrf: 'wrong' } })).status).toBe(403)
        expect((await otto.ask(`/tasks/1/${action}`, { method: 'GET' })).status).toBe(405)
      }
      await otto.ask('/tasks/1')
      const retried = await otto.ask('/tasks/1/retry', { form: {} })
      expect(retried.headers.get('location')).toBe('/tasks/1?done=retried')
      await sql`update lookups set state = 'parked'`.execute(locked.db)
      await sql`update tasks set status = 'parked'`.execute(locked.db)
      const skipped = await otto.ask('/tasks/1/skip', {
        form: { why: `Ann asked\u0007 us ${'x'.repeat(5_000)}` },
      })
      expect(skipped.headers.get('location')).toBe('/tasks/1?done=task_skipped')
      expect((await otto.ask('/tasks/1/skip', { form: {} })).headers.get('location')).toBe(
        '/tasks/1?done=nothing',
      )
      const { reason } = await locked.db.selectFrom('tasks').select('reason').executeTakeFirstOrThrow()
      expect(reason).toMatch(/^skipped by otto: Ann asked {2}us x{100,190}$/)
      const audited = (await locked.audit.list(10)).filter(({ action }) => action.startsWith('task.'))
      expect(audited).toMatchObject([
        { actor: 'otto', action: 'task.skip', target: 'task 1', details: { run: 'r1' } },
        { actor: 'otto', action: 'task.retry', target: 'task 1' },
      ])
      expect(JSON.stringify(audited, (_, value) => (typeof value === 'bigint' ? '' : value))).not.toContain(
        'Ann',
      )
    } finally {
      await locked.close()
    }
  })
})
