import type { LogEvent } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import type { Charge } from '../../src/domain/payment.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { createSpendSwitch } from '../../src/store/ledger/spend-switch.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { authorization, openLedgerRun } from '../support/ledger-run.ts'

// Steps of many lookups at once are written in groups; what becomes of each must be what became of it alone.

let database: OpenDatabase
let close: () => Promise<void>
let statements: LogEvent[] = []
const now = () => new Date('2026-05-05T05:05:05Z')

beforeAll(
  async () =>
    void ({ database, close } = await openFreshLedger({ onQuery: (event) => void statements.push(event) })),
)
afterAll(() => close())

const unlimited = 2n ** 63n - 1n
const line = (id: string, capAtomic = unlimited) => [{ scope: `run:${id}`, capAtomic }]
const fulfilled = <T>(results: PromiseSettledResult<T>[]) =>
  results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
const codes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as { code?: string }).code))

test('what is reserved together stands in the ledger as if each had been reserved alone, in a few statements', async () => {
  const world = await openLedgerRun(database, { lookups: 50, now })
  statements = []
  const charges = await Promise.all(world.keys.map((key) => world.reserve(key, line(world.id))))
  expect(statements.length).toBeLessThan(20)
  expect(charges.map(({ lookupKey }) => lookupKey)).toEqual(world.keys)
  expect(await world.committed(`run:${world.id}`)).toBe(500_000n)
  // Each charge in the hands of the payer is the one that a restart would find.
  for (const charge of charges) {
    expect((await world.journal.unanswered(charge.lookupKey)).open).toEqual(charge)
    expect(JSON.stringify(charge.authorization.terms.raw)).toBe(
      JSON.stringify(authorization('', 0n).terms.raw),
    )
  }
})

test('a group that does not fit into a budget takes of it as much as fits, and not a cent more', async () => {
  const world = await openLedgerRun(database, { lookups: 20, now })
  const results = await Promise.allSettled(
    world.keys.map((key) => world.reserve(key, line(world.id, 70_000n))),
  )
  expect(codes(results).toSorted()).toEqual([
    ...Array.from({ length: 13 }, () => 'budget_run'),
    ...Array.from({ length: 7 }, () => 'ok'),
  ])
  expect(await world.committed(`run:${world.id}`)).toBe(70_000n)
  expect(await world.states()).toHaveLength(7)
})

test('of two caps on one line in a group each holds for its own', async () => {
  const world = await openLedgerRun(database, { lookups: 4, now })
  const caps = [unlimited, 20_000n, unlimited, unlimited]
  const results = await Promise.allSettled(
    world.keys.map((key, index) => world.reserve(key, line(world.id, caps[index]))),
  )
  expect(codes(results).filter((code) => code === 'ok').length).toBeGreaterThanOrEqual(3)
  expect(await world.committed(`run:${world.id}`)).toBe(BigInt(fulfilled(results).length) * 10_000n)
})

test('in one group: answered, paid for already, the same challenge twice, and an ordinary one', async () => {
  const world = await openLedgerRun(database, { lookups: 6, now })
  const [answered, paid, oneChallenge, sameChallenge, twice, ordinary] = world.keys as [
    Charge['lookupKey'],
    ...Charge['lookupKey'][],
  ]
  await world.lookups.storeFree(answered, { outcome: 'not_found', data: null, freshUntil: now() })
  await world.reserve(paid as never, line(world.id))
  const results = await Promise.allSettled([
    world.reserve(answered, line(world.id)),
    world.reserve(paid as never, line(world.id)),
    world.reserve(oneChallenge as never, line(world.id), 10_000n, `challenge-${world.id}`),
    world.reserve(sameChallenge as never, line(world.id), 10_000n, `challenge-${world.id}`),
    world.reserve(twice as never, line(world.id)),
    world.reserve(twice as never, line(world.id)),
    world.reserve(ordinary as never, line(world.id)),
  ])
  const [ended, open, ...others] = codes(results)
  expect([ended, open]).toEqual(['ended_meanwhile', 'charge_open'])
  expect(others.slice(0, 2).toSorted()).toEqual(['challenge_taken', 'ok'])
  expect(others.slice(2)).toEqual(['ok', 'charge_open', 'ok'])
  expect(await world.committed(`run:${world.id}`)).toBe(40_000n)
})

test('answers of every kind are settled together, each with its own receipt and price', async () => {
  const world = await openLedgerRun(database, { lookups: 4, now })
  const charges = await Promise.all(world.keys.map((key) => world.reserve(key, line(world.id))))
  await Promise.all(charges.map(({ id }) => world.journal.markSent(id, now())))
  const freshUntil = new Date('2026-08-01T00:00:00Z')
  const answers = [
    {
      outcome: 'found' as const,
      data: { name: 'Ünïcode "quoted" \\ 株式会社', list: [], nothing: null },
      freshUntil,
    },
    { outcome: 'not_found' as const, data: null, freshUntil },
    { outcome: 'found' as const, data: { deep: { numbers: [1, 2.5, -3e10] } }, freshUntil },
    { outcome: 'unreadable' as const, data: null, freshUntil },
  ]
  const at = new Date('2026-05-05T05:05:06.789Z')
  const receipts = charges.map((_, index) => ({
    transaction: index === 1 ? null : `0x${index}`,
    at,
    ...(index === 2 ? { creditsAtomic: 1_500_000n } : {}),
  }))
  statements = []
  await Promise.all(
    charges.map((charge, index) => world.journal.settleCharge(charge, receipts[index]!, answers[index]!)),
  )
  expect(statements.length).toBeLessThan(12)
  const rows = await world.db
    .selectFrom('charges')
    .innerJoin('lookups', 'lookups.key', 'charges.lookup_key')
    .select(['charges.state', 'transaction', 'closed_at', 'sent_at', 'credits_atomic', 'amount_atomic'])
    .select(['lookups.state as lookup', 'outcome', 'answer', 'fresh_until', 'key'])
    .where('charges.run_id', '=', world.run.id)
    .execute()
  const byKey = new Map(rows.map((row) => [row.key, row]))
  expect(world.keys.map((key) => byKey.get(key))).toEqual(
    charges.map((_, index) => ({
      key: world.keys[index],
      state: 'settled',
      transaction: receipts[index]?.transaction,
      closed_at: at,
      sent_at: now(),
      // Paid on a chain: what is said of credits changes no price.
      credits_atomic: index === 2 ? 1_500_000n : null,
      amount_atomic: 10_000n,
      lookup: 'answered',
      outcome: answers[index]?.outcome,
      answer: answers[index]?.data,
      fresh_until: freshUntil,
    })),
  )
})

test('an answer that the database cannot take spoils none of its group', async () => {
  const world = await openLedgerRun(database, { lookups: 3, now })
  const charges = await Promise.all(world.keys.map((key) => world.reserve(key, line(world.id))))
  await Promise.all(charges.map(({ id }) => world.journal.markSent(id, now())))
  const settled = await Promise.allSettled(
    charges.map((charge, index) =>
      world.journal.settleCharge(
        charge,
        { transaction: `0x${index}`, at: now() },
        { outcome: index === 1 ? ('nonsense' as 'found') : 'found', data: {}, freshUntil: now() },
      ),
    ),
  )
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await world.states()).toSorted()).toEqual(['sent', 'settled', 'settled'])
})

test('an answer with a character that Postgres has no place for is kept without it', async () => {
  const world = await openLedgerRun(database, { lookups: 1, now })
  const { id, lookupKey } = await world.reserve(world.keys[0]!, line(world.id))
  await world.journal.markSent(id, now())
  const data = { headline: 'CEO \u0000at \ud83d' }
  await world.journal.settleCharge(
    { id, lookupKey },
    { transaction: '0x1', at: now() },
    { outcome: 'found', data, freshUntil: now() },
  )
  expect((await world.lookups.facts([lookupKey])).get(lookupKey)?.data).toEqual({ headline: 'CEO at \ufffd' })
})

test('what is marked as sent together: a closed charge is told by itself', async () => {
  const world = await openLedgerRun(database, { lookups: 3, now })
  const charges = await Promise.all(world.keys.map((key) => world.reserve(key, line(world.id))))
  await world.journal.withdraw(charges[1]!.id)
  const marks = ['sent', 'closed', 'sent']
  expect(await Promise.all(charges.map(({ id }) => world.journal.maySend(id)))).toEqual(marks)
  expect((await world.states()).toSorted()).toEqual(['declined', 'journaled', 'journaled'])
  expect(await Promise.all(charges.map(({ id }) => world.journal.markSent(id, now())))).toEqual(marks)
  expect(await world.committed(`run:${world.id}`)).toBe(20_000n)
})

test('the kill switch holds for every open charge, and not for one that the chain says is used', async () => {
  const world = await openLedgerRun(database, { lookups: 2, now })
  const [journaled, sent] = await Promise.all(world.keys.map((key) => world.reserve(key, line(world.id))))
  await world.journal.markSent(sent!.id, now())
  const spending = createSpendSwitch(database.db, { now })
  await spending.stop('a test')
  try {
    const both = [journaled!, sent!]
    const mark = async (isUsed: boolean) => {
      const foretold = await Promise.all(both.map(({ id }) => world.journal.maySend(id, { isUsed })))
      const marked = await Promise.all(both.map(({ id }) => world.journal.markSent(id, now(), { isUsed })))
      expect(foretold).toEqual(marked)
      return marked
    }
    expect(await mark(false)).toEqual(['stopped', 'stopped'])
    // A charge that was never sent cannot be used, whatever a chain says.
    expect(await mark(true)).toEqual(['stopped', 'sent'])
    await world.journal.markInDoubt(sent!.id, 'timeout')
    expect(await mark(false)).toEqual(['stopped', 'stopped'])
  } finally {
    await spending.resume()
  }
  expect(await world.journal.markSent(journaled!.id, now())).toBe('sent')
})

test('an answer that comes to a charge that a person took for declined is stored, and its budget spent again', async () => {
  const world = await openLedgerRun(database, { lookups: 1, now })
  const { id, lookupKey } = await world.reserve(world.keys[0]!, line(world.id))
  await world.journal.markSent(id, now())
  await world.db.updateTable('charges').set({ protocol: 'api_key' }).where('id', '=', id).execute()
  await world.journal.release(id, 'declined', 'a person has looked: declined')
  expect(await world.committed(`run:${world.id}`)).toBe(0n)
  const answer = { outcome: 'found' as const, data: { name: 'late' }, freshUntil: now() }
  for (let times = 0; times < 2; times += 1)
    await world.journal.settleCharge({ id, lookupKey }, { transaction: '0x1', at: now() }, answer)
  expect(await world.states()).toEqual(['settled'])
  expect(await world.committed(`run:${world.id}`)).toBe(10_000n)
  expect((await world.lookups.facts([lookupKey])).get(lookupKey)?.data).toEqual({ name: 'late' })
})

test.each([
  ['open', 1_500_000n],
  ['lost', 0n],
  ['declined', 1_500_000n],
  ['declined', undefined],
] as const)(
  'an answer to a charge in credits that is %s costs what is said: %s',
  async (state, creditsAtomic) => {
    const world = await openLedgerRun(database, { lookups: 1, now })
    const charge = await world.reserve(world.keys[0]!, line(world.id))
    await world.journal.markSent(charge.id, now())
    const credits = { protocol: 'api_key', currency: 'credit' } as const
    await world.db.updateTable('charges').set(credits).where('id', '=', charge.id).execute()
    if (state === 'lost') await world.journal.lose(charge.id, null, 'no answer')
    if (state === 'declined')
      await world.journal.release(charge.id, 'declined', 'a person has looked: declined')
    const answer = { outcome: 'not_found' as const, data: null, freshUntil: now() }
    for (let times = 0; times < 2; times += 1)
      await world.journal.settleCharge(charge, { transaction: null, at: now(), creditsAtomic }, answer)
    const cost = creditsAtomic ?? 10_000n
    expect(await world.committed(`run:${world.id}`)).toBe(cost)
    const row = await world.db
      .selectFrom('charges')
      .select(['state', 'amount_atomic', 'credits_atomic'])
      .where('id', '=', charge.id)
      .executeTakeFirst()
    expect(row).toEqual({ state: 'settled', amount_atomic: cost, credits_atomic: creditsAtomic ?? null })
  },
)

test('what a process with its clock ahead has asked for is due as soon as its run is started again', async () => {
  const ahead = () => new Date(now().getTime() + 3_600_000)
  const world = await openLedgerRun(database, { lookups: 2, now: ahead })
  expect(await world.lookups.lease(1, 60_000, false, { runId: world.run.id })).toHaveLength(1)
  const lookups = createLookupLedger(database.db, { now })
  expect(await lookups.lease(5, 60_000, false, { runId: world.run.id })).toEqual([])
  await lookups.unpark(world.run.id)
  expect(await lookups.lease(5, 60_000, false, { runId: world.run.id })).toHaveLength(2)
})

test('what completes a record for nothing goes before what begins another', async () => {
  const world = await openLedgerRun(database, { lookups: 3, now })
  const logo = lookupKey('company.logo', `${world.id}.example`)
  const wanted = { key: logo, operation: 'company.logo' as const, request: { domain: `${world.id}.example` } }
  await world.lookups.want([wanted], { id: world.run.id, connector: world.connector, hot: false })
  expect(await world.lookups.lease(1, 60_000, false, { runId: world.run.id })).toEqual([logo])
})
