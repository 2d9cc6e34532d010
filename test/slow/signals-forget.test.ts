import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forget, planForget } from '../../src/app/records/forget.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { enforceRetention } from '../../src/app/upkeep/retention.ts'
import { runSignals } from '../../src/app/signals/run-signals.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { lastChecks } from '../../src/store/signals/accounts.ts'
import { saveScores } from '../../src/store/signals/score-days.ts'
import { takeChecks } from '../../src/store/signals/take-checks.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { openCrmWorld, type CrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld
let at: Date
const dayMs = 86_400_000
const begins = new Date('2037-11-23T08:00:00Z')

beforeAll(
  async () =>
    void (sandbox = await startSandbox({ apiKeys: { 'sandbox-key': { credit: 1e6, topupCredit: 0 } } })),
)
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const operations = ['company.search', 'job.search', 'news.search', 'advertisement.search', 'cloud.search']

const profileOf = (slug: string) => `https://www.profnet.com/company/${slug}`

/** Companies of the world in a CRM, asked for once: the first three. */
async function watched(types: readonly string[]) {
  at = begins
  sandbox.clock.set(at)
  world = await openCrmWorld(
    sandbox,
    'hubspot',
    'companies',
    {
      payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
      signals: { moves: { accounts: { connector: 'hubspot' }, types } },
    } as never,
    { now: () => at },
  )
  const companies = worldCompanies().slice(0, 3)
  // One is known by its profile too; of the others the CRM has the domain alone.
  for (const { name, domain, slug } of companies)
    world.add({ name, domain, ...(slug === companies[0]?.slug && { profnet_url: profileOf(slug) }) })
  const run = () =>
    runSignals(world.context, 'moves', { budgetAtomic: 5_000_000n, signal: new AbortController().signal })
  const first = await run()
  expect(first).toMatchObject({ end: 'complete', left: 0 })
  const { db } = world.context.database
  const signals = () => db.selectFrom('signals').selectAll().orderBy('id').execute()
  return { companies, run, db, signals, accounts: first.accounts }
}

test('nothing that is watched of a forgotten company is left, and what tells of others stays', async () => {
  const { companies, run, db, signals, accounts } = await watched(['cloud', 'job', 'news'])
  const [gone, other] = companies
  await saveScores(
    db,
    'moves',
    '2037-11-23',
    accounts.map(({ id }) => ({ accountId: id, hundredths: 100, stage: null })),
  )
  const before = await signals()
  await db
    .updateTable('signals')
    .set({ title: `${other?.name} buys ${profileOf(gone!.slug)}` })
    .where('account_id', '=', accounts[1]!.id)
    .where('key', '=', before.find(({ account_id: id }) => id === accounts[1]!.id)!.key)
    .execute()
  const named = readIdentifiers({ profile_url: [profileOf(gone!.slug)] })
  const own = before.filter(({ account_id: id }) => id === accounts[0]!.id).length
  expect((await planForget(world.context, named, { suppress: true })).erased.signals).toBe(1 + own + 1)
  expect((await forget(world.context, named, { suppress: true })).erased.signals).toBe(1 + own + 1)

  const tables = ['signal_accounts:', 'signals:', 'signal_checks:', 'signal_scores:']
  const traces = tracesIn(await dumpLedger(world.context), [gone!.domain, gone!.name])
  expect(traces.filter((line) => tables.some((table) => line.startsWith(table)))).toEqual([])
  expect((await signals()).length).toBe(before.length - own)
  expect((await db.selectFrom('signal_scores').select('account_id').execute()).length).toBe(2)
  // The answer to its search has told the profile of the company that the CRM knows by its domain alone.
  const byAnswer = readIdentifiers({ profile_url: [profileOf(other!.slug)] })
  const { erased } = await forget(world.context, byAnswer, { suppress: false })
  expect(erased.signals).toBe(1 + before.filter(({ account_id: id }) => id === accounts[1]!.id).length)
  // It is in the CRM as ever, and is not asked for any more.
  at = new Date(at.getTime() + 31 * dayMs)
  sandbox.clock.set(at)
  expect(await run()).toMatchObject({ suppressed: 1, due: 6, checked: 6, left: 0 })
})

test('an account that is forgotten while its answers come is dropped, and those of the others are kept', async () => {
  const { db, accounts, signals } = await watched(['cloud'])
  const [first, second] = accounts
  await db.deleteFrom('signal_accounts').where('id', '=', first!.id).execute()
  const later = new Date(begins.getTime() + dayMs)
  const question = { pipeline: 'moves', type: 'cloud', at: later, isWhole: true, from: undefined } as const
  await takeChecks(db, {
    ...question,
    lookupKey: 'cloud.search:test',
    priceAtomic: null,
    checks: [first, second].map((account) => ({ accountId: account!.id, rows: [], isMatched: true })),
  })
  const [check] = (await lastChecks(db, 'moves', [second!.id])).get(second!.id) ?? []
  expect(check?.checkedAt).toEqual(later)
  expect((await signals()).some(({ account_id: id }) => id === first!.id)).toBe(false)
  await saveScores(db, 'moves', '2037-11-24', [{ accountId: first!.id, hundredths: 1, stage: null }])
  expect(await db.selectFrom('signal_scores').selectAll().execute()).toEqual([])
})

test('signals are kept for 400 days, what still goes on longer, and an account as long as it is read', async () => {
  const { db, run, signals } = await watched(['cloud', 'news'])
  const all = await signals()
  const news = all.filter(({ type }) => type === 'news')
  const clouds = all.filter(({ type }) => type === 'cloud')
  expect(Math.min(news.length, clouds.length)).toBeGreaterThan(1)
  await db.updateTable('signals').set({ ended_at: begins }).where('id', '=', clouds[0]!.id).execute()
  await saveScores(db, 'moves', '2037-11-23', [
    { accountId: clouds[0]!.account_id, hundredths: 1, stage: null },
  ])
  at = new Date(begins.getTime() + 400 * dayMs)
  expect(await enforceRetention(world.context)).toBe(0)
  // Read and suppressed by nobody, but with no budget: nothing is asked for.
  await db
    .updateTable('signal_accounts')
    .set({ seen_at: new Date(begins.getTime() + 399 * dayMs) })
    .execute()
  at = new Date(begins.getTime() + 402 * dayMs)
  expect(await enforceRetention(world.context)).toBeGreaterThan(0)
  expect((await signals()).map(({ id }) => id)).toEqual(clouds.slice(1).map(({ id }) => id))
  expect(await db.selectFrom('signal_scores').selectAll().execute()).toEqual([])
  at = new Date(begins.getTime() + 800 * dayMs)
  await enforceRetention(world.context)
  expect(await db.selectFrom('signal_accounts').select('id').execute()).toEqual([])
  expect(await signals()).toEqual([])
  sandbox.clock.set(at)
  expect(await run()).toMatchObject({ end: 'complete', due: 6, left: 0 })
})
