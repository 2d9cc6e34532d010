import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { attentionItems } from '../../src/http/desk/model/attention.ts'
import { daysLeft, progressOf } from '../../src/http/desk/model/now.ts'
import { runName } from '../../src/http/desk/view/format.ts'
import type { Database } from '../../src/store/database/database.ts'
import { failureGroups } from '../../src/store/views/desk-failures.ts'
import { liveRuns, moneyNow, parkedGroups } from '../../src/store/views/desk-now.ts'
import { funnels, runHead, runHeads, runReasons, runRecords } from '../../src/store/views/desk-runs.ts'
import { spendDays, spendTotals } from '../../src/store/views/desk-spend.ts'
import {
  desk,
  since,
  minutesAgo,
  addRun,
  addTask,
  addLookup,
  addCharge,
  useDesk,
} from './desk-rows.fixture.ts'

useDesk()

const calmPace = {
  phase: 'hold',
  perSecond: 10,
  servedPerSecond: 5,
  windows: [],
  closedForMs: 0,
  totals: { ok: 1, limited: 0 },
  limitedShare: 0.01,
}

describe('runs', () => {
  test('of a file bear its name, and others that of their entity', async () => {
    await addRun('f1', { connector: 'csv', source: { file: 'leads.csv' } })
    await addRun('f2')
    const named = [
      ...(await liveRuns(desk.db, desk.now(), 10)),
      ...(await runHeads(desk.db, { limit: 10 })),
      await runHead(desk.db, 'f1'),
    ]
    const names = named.map((run) => run && runName(run))
    expect(names.filter((name) => name === 'CSV leads.csv')).toHaveLength(3)
    expect(names.filter((name) => name === 'HubSpot companies')).toHaveLength(2)
  })

  test('say what was left out of records that were written', async () => {
    await addRun('r0', { state: 'finished' })
    const reason = 'left out industry (no such option)'
    await addTask('r0', 'written', { patch: { city: { set: 'Ulm' } }, reason })
    await addTask('r0', 'written', { patch: { city: { set: 'Bonn' } } })
    expect(await runReasons(desk.db, 'r0')).toMatchObject([{ status: 'written', reason, records: 1 }])
  })

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
      'Cost per matched record': '16 credits',
      'Cost per written record': '16 credits',
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
    // Returns the rows that sequential scans have read so far, in this connection.
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
      failures: await readBy((tx) => failureGroups(tx, { since, connectors: ['hubspot'] })),
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

test('a run that was resumed a moment ago is timed from then on', () => {
  const counts = {
    queued: 0,
    looking_up: 100,
    ready: 0,
    written: 20,
    unchanged: 0,
    skipped: 0,
    rejected: 0,
    parked: 0,
  }
  const run = { startedAt: minutesAgo(30), counts, endedLastMinute: 20, scanned: true }
  const resumed = { ...run, endedFrom: new Date(desk.now().getTime() - 10_000) } as never
  expect(progressOf(resumed, desk.now())).toMatchObject({ perSecond: 2, leftMs: 50_000 })
  const atOnce = { ...run, endedFrom: new Date(desk.now().getTime() - 1_000) } as never
  expect(progressOf(atOnce, desk.now()).leftMs).toBeUndefined()
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
    // One afternoon is no rate.
    await addCharge(a, 'settled', 0n, minutesAgo(300))
    expect(
      daysLeft(
        1n,
        { ...(await moneyNow(desk.db, desk.now(), [])), settledLastWeekAtomic: 4_000_000n },
        desk.now(),
      ),
    ).toBeUndefined()
    await addCharge(a, 'settled', 1_000_000n, minutesAgo(2 * 1440))
    const young = await moneyNow(desk.db, desk.now(), [])
    expect(daysLeft(3_000_000n, young, desk.now())).toBeCloseTo(6, 6)
    await addCharge(a, 'settled', 6_000_000n, minutesAgo(9 * 1440))
    const older = await moneyNow(desk.db, desk.now(), [])
    expect(daysLeft(3_000_000n, older, desk.now())).toBeCloseTo(21, 6)
  })

  test('and work that waits for a person need action, the most severe first', async () => {
    await addRun('r1')
    const a = await addLookup('a', 'parked', { code: 'price', reason: 'too dear' })
    await addTask('r1', 'parked', { lookup: a, reason: 'too dear' })
    const at = desk.now()
    const model = {
      at,
      runs: [],
      ended: [],
      parked: await parkedGroups(desk.db),
      open: { hot: 0, background: 0, retrying: 0 },
      money: { ...(await moneyNow(desk.db, at, [])), committed: new Map([['day:2026-11-20', 95n]]) },
      wallet: { address: '0x1', balanceAtomic: 0n },
      pace: undefined,
      queues: [],
      stopped: { reason: '', since: at },
      reconciliation: { at, differenceAtomic: 1n, differences: 1, inDoubtAtomic: 0n },
      alerts: [],
    }
    const found = attentionItems(model, { prices: [], dayAtomic: 100n })
    expect(found.map(({ tone }) => tone)).toEqual(['danger', 'danger', 'danger', 'danger', 'warn', 'warn'])
    expect(found.map(({ text }) => text).join('\n')).toMatch(
      /stopped[^]*differences between the ledger and the chain[^]*wallet is empty[^]*Redis[^]*nearly used up[^]*1 parked record needs action/,
    )
    const calm = {
      ...model,
      parked: [],
      stopped: undefined,
      reconciliation: undefined,
      wallet: undefined,
      pace: calmPace,
    }
    expect(attentionItems(calm, { prices: [] })).toEqual([])
    const alert = (name: string) => ({ name, message: name, since: at })
    const told = { ...calm, alerts: [alert('schedule_missed')] }
    expect(attentionItems(told, { prices: [] })).toEqual([
      { tone: 'warn', text: 'schedule_missed', href: '/settings' },
    ])
    const twice = attentionItems({ ...model, alerts: [alert('wallet_low')] }, { prices: [], dayAtomic: 100n })
    expect(twice).toEqual(found)
  })
})
