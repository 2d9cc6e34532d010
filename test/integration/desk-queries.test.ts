import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { attentionItems } from '../../src/http/desk/model/attention.ts'
import { daysLeft, progressOf } from '../../src/http/desk/model/now.ts'
import type { Database } from '../../src/store/database/database.ts'
import { retryGroup, skipGroup } from '../../src/store/runs/retry-and-skip.ts'
import { failureGroups } from '../../src/store/views/desk-failures.ts'
import { liveRuns, moneyNow, parkedGroups } from '../../src/store/views/desk-now.ts'
import { funnels, recordsLike, runHeads, runReasons, runRecords } from '../../src/store/views/desk-runs.ts'
import { spendDays, spendTotals } from '../../src/store/views/desk-spend.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import type { RunState } from '../../src/store/database/states.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

let desk: BareDesk
beforeEach(async () => {
  desk = await openBareDesk({ open: true })
  return () => desk.close()
})

const since = new Date('2026-11-06T00:00:00Z')
const minutesAgo = (minutes: number) => new Date(desk.now().getTime() - minutes * 60_000)

async function addRun(
  id: string,
  more: { state?: RunState; connector?: string; startedAt?: Date; fingerprint?: string } = {},
): Promise<void> {
  const { state = 'working', connector = 'hubspot', startedAt = minutesAgo(10), fingerprint = id } = more
  await desk.db
    .insertInto('runs')
    .values({
      id,
      connector,
      object: 'company',
      entity: 'companies',
      recipe: 'profile',
      trigger: 'sync',
      state,
      fingerprint,
      source: '{}',
      scanned_at: startedAt,
      records: 10,
      started_at: startedAt,
      finished_at: state === 'finished' ? startedAt : null,
    })
    .execute()
}

type Status = 'looking_up' | 'parked' | 'written' | 'unchanged' | 'skipped' | 'rejected'
let ordinal = 0

async function addTask(
  run: string,
  status: Status,
  more: {
    lookup?: string
    reason?: string
    at?: Date
    patch?: object
    replaced?: string[]
    record?: string
  } = {},
): Promise<void> {
  ordinal += 1
  const key = (more.lookup ?? null) as LookupKey | null
  const waits = status === 'looking_up' || status === 'parked'
  await desk.db
    .insertInto('tasks')
    .values({
      run_id: run,
      ordinal,
      record_id: more.record ?? `rec${ordinal}`,
      identity: '{}',
      status,
      lookup_key: key,
      waiting_for: waits ? key : null,
      ...(waits || key === null ? {} : { steps: [key] }),
      ...(more.patch ? { patch: JSON.stringify(more.patch) } : {}),
      ...(more.replaced ? { replaced: more.replaced } : {}),
      reason: more.reason ?? null,
      updated_at: more.at ?? desk.now(),
    })
    .execute()
}

async function addLookup(
  name: string,
  state: 'waiting' | 'parked' | 'answered' | 'failed',
  more: { run?: string; code?: string; reason?: string; dueAt?: Date; outcome?: 'found' | 'not_found' } = {},
): Promise<string> {
  const key = `company.profile|profnet.test/company/${name}`
  await desk.db
    .insertInto('lookups')
    .values({
      key: key as LookupKey,
      operation: 'company.profile',
      request: '{}',
      state,
      run_id: more.run ?? 'r1',
      connector: 'hubspot',
      due_at: more.dueAt ?? new Date('9999-01-01T00:00:00Z'),
      code: more.code ?? null,
      reason: more.reason ?? null,
      outcome: more.outcome ?? null,
    })
    .execute()
  return key
}

async function addCharge(
  lookup: string,
  state: 'settled' | 'lost' | 'in_doubt' | 'declined',
  amount: bigint,
  at: Date,
): Promise<void> {
  ordinal += 1
  await desk.db
    .insertInto('charges')
    .values({
      id: `c${ordinal}`,
      lookup_key: lookup as LookupKey,
      attempt: ordinal,
      run_id: 'r1',
      connector: 'hubspot',
      operation: 'company.profile',
      endpoint: 'e',
      url: 'u',
      body: '{}',
      protocol: 'x402',
      currency: 'USD',
      amount_atomic: amount,
      authorization_json: '{}',
      nonce: `n${ordinal}`,
      budget_scopes: [],
      state,
      created_at: at,
      touched_at: at,
    })
    .execute()
}

const statusesOf = async (run: string) =>
  (
    await desk.db.selectFrom('tasks').select('status').where('run_id', '=', run).orderBy('ordinal').execute()
  ).map(({ status }) => status)
const stateOf = async (key: string) =>
  await desk.db
    .selectFrom('lookups')
    .select(['state', 'due_at', 'reason'])
    .where('key', '=', key as LookupKey)
    .executeTakeFirstOrThrow()

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

describe('runs', () => {
  test('are counted down from what was read to what was changed', async () => {
    await addRun('r1', { state: 'finished' })
    const found = await addLookup('a', 'answered', { outcome: 'found' })
    const none = await addLookup('b', 'answered', { outcome: 'not_found' })
    await addTask('r1', 'written', {
      lookup: found,
      patch: { city: { set: 'Ulm' } },
      replaced: ['city'],
      record: '5',
    })
    await addTask('r1', 'written', { lookup: found, patch: { industry: { set: 'Tools' } } })
    await addTask('r1', 'unchanged', { lookup: none, reason: 'not found by the service' })
    await addTask('r1', 'skipped', { reason: 'no profile URL to look up by' })
    await addTask('r1', 'rejected', { lookup: found, reason: 'refused' })
    await addCharge(found, 'settled', 10_000n, minutesAgo(5))
    await addCharge(none, 'lost', 10_000n, minutesAgo(5))
    await addCharge(none, 'declined', 10_000n, minutesAgo(5))
    expect((await funnels(desk.db, ['r1'])).get('r1')).toEqual({
      records: 5,
      asked: 4,
      matched: 3,
      filled: 2,
      changed: 1,
      unchanged: 1,
      skipped: 1,
      rejected: 1,
      parked: 0,
      settledAtomic: 10_000n,
      inDoubtAtomic: 0n,
      lostAtomic: 10_000n,
      creditsAtomic: 0n,
      creditsInDoubtAtomic: 0n,
      creditsLostAtomic: 0n,
    })
    expect((await runReasons(desk.db, 'r1')).map(({ reason, records }) => [reason, records])).toContainEqual([
      'refused',
      1,
    ])
    const written = await runRecords(desk.db, 'r1', { after: 0, limit: 10, status: 'written' })
    expect(written.map(({ fields }) => fields)).toEqual([['city'], ['industry']])
    expect(await recordsLike(desk.db, '5', 10)).toMatchObject([
      { connector: 'hubspot', entity: 'companies', recordId: '5' },
    ])
  })

  test('that wait have not been asked, and were not found by what an earlier run was told', async () => {
    await addRun('r1', { state: 'parked' })
    const stale = await addLookup('a', 'parked', { outcome: 'found', code: 'budget_day' })
    await addTask('r1', 'parked', { lookup: stale })
    expect((await funnels(desk.db, ['r1'])).get('r1')).toMatchObject({
      records: 1,
      asked: 0,
      matched: 0,
      parked: 1,
    })
  })

  test('that were paid for in credits show them, also what is in doubt and lost', async () => {
    await addRun('r1', { state: 'finished' })
    const [a, b, c] = [
      await addLookup('a', 'answered', { outcome: 'found' }),
      await addLookup('b', 'failed'),
      await addLookup('c', 'failed'),
    ]
    await addTask('r1', 'written', { lookup: a, patch: { city: { set: 'Ulm' } } })
    await addTask('r1', 'rejected', { lookup: b, reason: 'x' })
    await addCharge(a, 'settled', 15_000_000n, minutesAgo(5))
    await addCharge(b, 'in_doubt', 2_000_000n, minutesAgo(5))
    await addCharge(c, 'lost', 1_000_000n, minutesAgo(5))
    await desk.db.updateTable('charges').set({ currency: 'credit' }).execute()
    const [list, page] = await Promise.all(
      ['/runs', '/runs/r1'].map(async (path) => (await desk.browser().ask(path)).text()),
    )
    expect(list).toContain('15 credits')
    const figures = [...(page ?? '').matchAll(/<dt>([^<]*)<\/dt>\s*<dd[^>]*>([^<]*)/g)].map(
      ([, name, value]) => [name, value],
    )
    expect(Object.fromEntries(figures)).toMatchObject({
      Settled: '15 credits',
      'In doubt': '2 credits',
      Lost: '1 credits',
      'Per matched record': '15 credits',
      'Per filled record': '15 credits',
    })
  })

  test('and failures are read without going through every record there is', async () => {
    const { db } = desk
    for (let i = 0; i < 40; i += 1) await addRun(`old${i}`, { state: 'finished' })
    await addRun('r1')
    await sql`insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select 'old' || i % 40, i, i, '{}', 'written', ${minutesAgo(60 * 24)} from generate_series(1, 5000) as i`.execute(
      db,
    )
    await addTask('r1', 'rejected', { reason: 'x' })
    await sql`analyze`.execute(db)
    // What sequential scans have returned so far, in this connection.
    const returned = async (tx: Database) => {
      const { rows } = await sql<{ tuples: bigint }>`
        select pg_stat_get_xact_tuples_returned('tasks'::regclass) as tuples`.execute(tx)
      return Number(rows[0]?.tuples)
    }
    const readBy = (reading: (tx: Database) => Promise<unknown>) =>
      db.transaction().execute(async (tx) => {
        const before = await returned(tx)
        await reading(tx)
        return (await returned(tx)) - before
      })
    const read = {
      now: await readBy((tx) => liveRuns(tx, desk.now(), 8)),
      parked: await readBy((tx) => parkedGroups(tx)),
      runs: await readBy((tx) => funnels(tx, ['r1'])),
      failures: await readBy((tx) => failureGroups(tx, since)),
    }
    expect(read).toEqual({ now: 0, parked: 0, runs: 0, failures: 0 })
  })

  test('under way tell how fast they go and how long they still take', async () => {
    await addRun('r1', { startedAt: minutesAgo(10) })
    await addRun('r2', { state: 'finished' })
    const open = await addLookup('a', 'waiting')
    for (let i = 0; i < 6; i += 1)
      await addTask('r1', 'written', { at: new Date(desk.now().getTime() - i * 20_000) })
    for (let i = 0; i < 4; i += 1) await addTask('r1', 'looking_up', { lookup: open })
    const [run, ...others] = await liveRuns(desk.db, desk.now(), 5)
    expect(others).toEqual([])
    expect(run).toMatchObject({ id: 'r1', endedLastMinute: 3, scanned: true })
    const progress = progressOf(run!, desk.now())
    expect(progress).toMatchObject({ ended: 6, open: 4, perSecond: 0.05 })
    expect(progress.leftMs).toBeCloseTo(80_000, 3)
  })
})

describe('money', () => {
  test('is told by day in UTC, also for the days on which nothing was spent', async () => {
    await addRun('r1')
    const a = await addLookup('a', 'answered')
    await addCharge(a, 'settled', 10_000n, new Date('2026-11-18T23:59:59Z'))
    await addCharge(a, 'settled', 20_000n, new Date('2026-11-20T00:00:00Z'))
    await addCharge(a, 'lost', 5_000n, new Date('2026-11-20T11:00:00Z'))
    await addCharge(a, 'settled', 99n, new Date('2026-11-17T23:59:59Z'))
    const days = await spendDays(desk.db, new Date('2026-11-18T12:00:00Z'), desk.now())
    expect(
      days.map(({ day, charges, settledAtomic, lostAtomic }) => [day, charges, settledAtomic, lostAtomic]),
    ).toEqual([
      ['2026-11-18', 1, 10_000n, 0n],
      ['2026-11-19', 0, 0n, 0n],
      ['2026-11-20', 2, 20_000n, 5_000n],
    ])
    expect(await spendTotals(desk.db)).toMatchObject([
      { currency: 'USD', settled: 3, settledAtomic: 30_099n, lost: 1 },
    ])
  })

  test('tells how long the wallet lasts at the rate of the week, or of the days since the first charge', async () => {
    await addRun('r1')
    const a = await addLookup('a', 'answered')
    const empty = await moneyNow(desk.db, desk.now(), [])
    expect(daysLeft(1_000_000n, empty, desk.now())).toBeUndefined()
    await addCharge(a, 'settled', 1_000_000n, minutesAgo(2 * 1440))
    const young = await moneyNow(desk.db, desk.now(), [])
    expect(daysLeft(3_000_000n, young, desk.now())).toBeCloseTo(6, 6)
    await addCharge(a, 'settled', 6_000_000n, minutesAgo(9 * 1440))
    const older = await moneyNow(desk.db, desk.now(), [])
    expect(daysLeft(3_000_000n, older, desk.now())).toBeCloseTo(21, 6)
  })

  test('and work that waits for a person need attention, the most severe first', async () => {
    await addRun('r1')
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: a, reason: 'too dear' })
    const at = desk.now()
    const model = {
      at,
      runs: [],
      ended: [],
      parked: await parkedGroups(desk.db),
      open: { hot: 0, background: 0 },
      money: { ...(await moneyNow(desk.db, at, [])), committed: new Map([['day:2026-11-20', 95n]]) },
      wallet: { address: '0x1', balanceAtomic: 0n },
      pace: undefined,
      queues: [],
      stopped: { reason: '', since: at },
      reconciliation: { at, differenceAtomic: 1n, differences: 1, inDoubtAtomic: 0n },
      alerts: [],
    }
    const found = attentionItems(model, { maxPriceAtomic: 1n, dayAtomic: 100n })
    expect(found.map(({ tone }) => tone)).toEqual(['danger', 'danger', 'danger', 'danger', 'warn', 'warn'])
    expect(found.map(({ text }) => text).join('\n')).toMatch(
      /stopped[^]*differences between the ledger and the chain[^]*wallet is empty[^]*Redis[^]*nearly used up[^]*1 parked record needs attention/,
    )
    const calm = {
      ...model,
      parked: [],
      stopped: undefined,
      reconciliation: undefined,
      wallet: undefined,
      pace: calmPace,
    }
    expect(attentionItems(calm, { maxPriceAtomic: 1n })).toEqual([])
    const alert = (name: string) => ({ name, message: name, since: at })
    const told = { ...calm, alerts: [alert('schedule_missed')] }
    expect(attentionItems(told, { maxPriceAtomic: 1n })).toEqual([
      { tone: 'warn', text: 'schedule_missed', href: '/settings' },
    ])
    const twice = attentionItems(
      { ...model, alerts: [alert('wallet_low')] },
      { maxPriceAtomic: 1n, dayAtomic: 100n },
    )
    expect(twice).toEqual(found)
  })
})

const calmPace = {
  phase: 'hold',
  perSecond: 10,
  servedPerSecond: 5,
  windows: [],
  closedForMs: 0,
  totals: { ok: 1, limited: 0 },
  limitedShare: 0.01,
}
