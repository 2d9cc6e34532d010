// One file because all tests watch the same companies through one helper, with one clock.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ask } from '../../src/app/signals/buying/ask.ts'
import { openPurse } from '../../src/app/signals/buying/purse.ts'
import { purseOf } from '../../src/app/config/watching/purses.ts'
import { planSignals } from '../../src/app/signals/plan-signals.ts'
import { runSignals } from '../../src/app/signals/run-signals.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { stages } from '../../src/sandbox/world/position.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'
import { sized } from '../support/full-size.ts'
import { openCrmWorld, type CrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld
const signal = new AbortController().signal
const dayMs = 86_400_000
const begins = new Date('2037-11-23T08:00:00Z')

beforeAll(
  async () =>
    void (sandbox = await startSandbox({ apiKeys: { 'sandbox-key': { credit: 1e6, topupCredit: 0 } } })),
)
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const companies = sized(30, 8)
const cap = '0.05'
const operations = [
  'company.search',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.lookup',
]

/** A CRM with companies of the world, and a clock of the world and of Paydirt together. */
async function watch(count: number, more: Record<string, unknown> = {}) {
  let at = begins
  sandbox.clock.set(at)
  world = await openCrmWorld(
    sandbox,
    'hubspot',
    'companies',
    {
      payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, cap])) },
      signals: { moves: { accounts: { connector: 'hubspot' }, ...more } },
    } as never,
    { now: () => at },
  )
  const companies = worldCompanies().slice(0, count)
  const ids = companies.map(({ name, domain }) => world.add({ name, domain }))
  return {
    companies,
    ids,
    run: (budgetUsd = 20, until = signal) =>
      runSignals(world.context, 'moves', { budgetAtomic: BigInt(budgetUsd * 1e6), signal: until }),
    pass(days: number) {
      at = new Date(at.getTime() + days * dayMs)
      sandbox.clock.set(at)
    },
    signals: () =>
      world.context.database.db
        .selectFrom('signals')
        .innerJoin('signal_accounts', 'signal_accounts.id', 'account_id')
        .select(['record_id', 'type', 'key', 'ended_at', 'happened_at', 'title'])
        .orderBy('record_id')
        .orderBy('type')
        .orderBy('key')
        .execute(),
    /** The things that the world itself shows of the companies now, by record, kind and id. */
    truth() {
      const today = createWorld(sandbox.clock).today()
      return companies.flatMap((company, place) => {
        const day = today.day
        const jobs = today.jobs.of(company).filter((job) => job.day > day - 150 && job.closedDay === null)
        const ads = today.advertisements
          .of(company)
          .filter((each) => each.day <= day && (each.lastDay ?? Infinity) >= day)
        return [
          ...jobs.map(({ id }) => [ids[place], 'job', id]),
          ...ads.map(({ id }) => [ids[place], 'advertisement', id]),
          ...today.footprints.of(company).map(({ id }) => [ids[place], 'cloud', id]),
        ].map((parts) => parts.join(' '))
      })
    },
  }
}

/** Advertisements and clouds are asked for whole each time, jobs the first time. */
const open = (rows: Awaited<ReturnType<Awaited<ReturnType<typeof watch>>['signals']>>) =>
  rows
    .filter(({ type, ended_at: ended }) => ended === null && ['job', 'advertisement', 'cloud'].includes(type))
    .map((row) => `${row.record_id} ${row.type} ${row.key}`)

test('what the world shows of accounts is kept once, and a repeat before it is due costs nothing', async () => {
  const { run, signals, truth, pass, ids } = await watch(companies)
  world.add({ name: 'Nobody knows it', domain: 'nobody-knows-it.example' })
  world.add({ name: 'Nameless' })
  const first = await run()
  expect(first).toMatchObject({
    end: 'complete',
    due: 5 * (companies + 1),
    checked: 5 * (companies + 1),
    left: 0,
    unmatched: 1,
    problems: [],
  })
  expect(first.skipped.map(({ reason }) => reason)).toEqual([
    'it has no profile URL, domain or other identifier',
  ])
  expect(open(await signals()).sort()).toEqual(truth().sort())
  const kept = await signals()
  expect(kept.some(({ record_id: id }) => !ids.includes(id))).toBe(false)
  expect(await run()).toMatchObject({ due: 0, bought: 0, charges: [] })

  // A month on everything is asked for as the first time: what has ended is known.
  pass(30)
  const later = await run()
  expect(later).toMatchObject({ end: 'complete', left: 0 })
  expect(open(await signals()).sort()).toEqual(truth().sort())
  const before = new Map(kept.map((row) => [`${row.type} ${row.key}`, row]))
  const after = await signals()
  expect(after.filter(({ type, key }) => before.has(`${type} ${key}`))).toHaveLength(before.size)
  // Many accounts go into one search, once an answer has named its company.
  expect(first.bought).toBeLessThan(40)
  expect(later.bought).toBeLessThan(40)
})

test('an increment asks from the day before the last check on, and finds what is new', async () => {
  const { run, signals, pass, companies, ids } = await watch(sized(40, 12), { types: ['job', 'news'] })
  await run()
  const before = new Set((await signals()).map(({ key }) => key))
  pass(7)
  await run()
  const today = createWorld(sandbox.clock).today()
  const fresh = companies.flatMap((company, place) =>
    today.news
      .of(company)
      .filter(({ day }) => day > today.day - 7)
      .map(({ id }) => `${ids[place]} ${id}`),
  )
  const found = (await signals()).filter(({ type, key }) => type === 'news' && !before.has(key))
  expect(found.map((row) => `${row.record_id} ${row.key}`).sort()).toEqual(fresh.sort())
  const bodies = await world.context.database.db
    .selectFrom('lookups')
    .select(['operation', 'request'])
    .where('operation', '=', 'news.search')
    .orderBy('answered_at', 'desc')
    .limit(1)
    .execute()
  expect(bodies[0]?.request).toMatchObject({ published_at: { from: '2037-11-22' } })
})

test('a budget ends it between questions, and the same command goes on', async () => {
  const { run } = await watch(6)
  const first = await run(0.3)
  expect(first).toMatchObject({ end: 'budget' })
  expect(first.bought).toBeLessThanOrEqual(6)
  expect(first.left + first.checked).toBe(first.due)
  const second = await run()
  expect(second).toMatchObject({ end: 'complete', due: first.left, checked: first.left })
})

test('the budget of the month holds over runs', async () => {
  const { run } = await watch(6, { types: ['job'], budgetMonthUsd: '0.05' })
  const first = await run()
  expect(first.end).toBe('budget')
  expect(first.reason).toContain('signals.moves.budgetMonthUsd')
  expect(await run()).toMatchObject({ end: 'budget', bought: 0 })
})

test('a record that names another company begins anew, and two records of one company have the same', async () => {
  const { run, signals, ids, companies } = await watch(3, { types: ['cloud'] })
  const twin = world.add({ name: 'Twin', domain: companies[1]!.domain })
  await run()
  const before = await signals()
  const keysOf = (rows: typeof before, id: string) =>
    rows.filter((row) => row.record_id === id).map(({ key }) => key)
  expect(keysOf(before, twin)).toEqual(keysOf(before, ids[1]!))
  expect(keysOf(before, ids[1]!)).not.toEqual([])
  world.edit(ids[0]!, { domain: companies[1]!.domain })
  world.edit(ids[2]!, { name: 'Only its name' })
  expect(await run()).toMatchObject({ end: 'complete', due: 1, checked: 1 })
  const after = await signals()
  expect(keysOf(after, ids[0]!)).toEqual(keysOf(before, ids[1]!))
  expect(keysOf(after, ids[2]!)).toEqual(keysOf(before, ids[2]!))
})

test('an account of which nothing goes on is identified again: the service may have given its id up', async () => {
  const { run, signals, truth, pass } = await watch(3)
  await run()
  await world.context.database.db.updateTable('signal_accounts').set({ service_id: 'ds-gone' }).execute()
  // After this whole answer nothing goes on.
  pass(30)
  expect(await run()).toMatchObject({ end: 'complete' })
  expect(open(await signals())).toEqual([])
  pass(3)
  expect(await run()).toMatchObject({ end: 'complete', due: 15, checked: 15, left: 0 })
  expect(open(await signals()).sort()).toEqual(truth().sort())
})

test.each([
  ['is followed', [], 2],
  ['is ignored, and the service says so', [{ key: 'sort_by', silent: false }], 3],
  ['is ignored in silence', [{ key: 'sort_by', silent: true }], 3],
] as const)('market entries are read until they are known: the order %s', async (_, dropped, pages) => {
  const { run, signals, pass, companies, ids } = await watch(40, { types: ['expansion'] })
  const entries = () => {
    const today = createWorld(sandbox.clock).today()
    return companies.flatMap((company, place) =>
      today.moves.of(company).map(({ id, level }) => `${ids[place]} expansion ${id}:${stages[level]}`),
    )
  }
  const going = async () =>
    (await signals())
      .filter(({ ended_at: ended }) => ended === null)
      .map((row) => `${row.record_id} ${row.type} ${row.key}`)
      .sort()
  await run()
  expect(await going()).toEqual(entries().sort())
  pass(7)
  sandbox.faults.set({ droppedFilters: dropped.map((each) => ({ only: ['expansions_lookup'], ...each })) })
  const later = await run()
  sandbox.faults.set({ droppedFilters: [] })
  expect(later).toMatchObject({ end: 'complete', left: 0, problems: [], bought: pages })
  // One that is gone is known to be gone by a whole answer alone.
  const gone = (await going()).filter((entry) => !entries().includes(entry))
  expect(
    gone.filter((entry) => entries().some((other) => other.split(':')[0] === entry.split(':')[0])),
  ).toEqual([])
  expect((await going()).filter((entry) => !gone.includes(entry))).toEqual(entries().sort())
  if (dropped.length > 0) expect(gone).toEqual([])
})

test('a suppressed account is not asked for, and a filter that no record meets is an error', async () => {
  const { run, companies, signals } = await watch(3, { types: ['cloud'] })
  await world.context.suppressions.add(readIdentifiers({ domain: [companies[0]!.domain] }))
  expect(await run()).toMatchObject({ suppressed: 1, due: 2 })
  expect((await signals()).every(({ record_id: id }) => id !== '1')).toBe(true)
  await world.close()
  const empty = await watch(0)
  await expect(empty.run()).rejects.toThrow('signals.moves.accounts: no record meets the filter')
})

test.each([
  ['says that it ignored', false, 'the service ignored'],
  ['ignores in silence', true, 'rows of companies that were not asked for'],
])('a search whose filter the service %s ends the run', async (_, silent, reason) => {
  const { run, signals } = await watch(2, { types: ['cloud'] })
  sandbox.faults.set({ droppedFilters: [{ only: ['clouds_search'], key: 'domain_search_ids', silent }] })
  const first = await run()
  sandbox.faults.set({ droppedFilters: [] })
  expect(first).toMatchObject({ end: 'failed', checked: 0, left: 2, bought: 2 })
  expect(first.reason).toContain(reason)
  expect(await signals()).toEqual([])
})

test('an account with more rows than the service answers stays due, and the run says so', async () => {
  const { run, ids } = await watch(1, { types: ['cloud'] })
  await run()
  const { accounts } = await run()
  const purse = await openPurse(world.context, { ...purseOf('moves'), budgetAtomic: 1_000_000n, signal })
  const reached = { ...purse, lastPage: 0 }
  const question = { type: 'job', isWhole: true, from: '2026-06-26', accounts } as const
  const asked = await ask({ context: world.context, pipeline: 'moves', purse: reached }, question)
  await purse.close()
  expect(asked).toMatchObject({ checked: 0, left: 1 })
  expect(purse.problems).toEqual([
    expect.stringMatching(`hubspot:companies:${ids[0]} has \\d+ rows, and the service answers 0 pages`),
  ])
})

test('a plan says what is due and what it costs, and buys nothing', async () => {
  await watch(30)
  const plan = await planSignals(world.context, 'moves', { signal })
  expect(plan).toMatchObject({
    accounts: 30,
    dueAccounts: 30,
    due: { job: 30, news: 30, advertisement: 30, cloud: 30, expansion: 30 },
    requests: { first: { least: 152, likely: 152 } },
    costAtMostUsd: { first: { least: '7.600000' } },
  })
  const charges = await world.context.database.db.selectFrom('charges').select('id').execute()
  expect(charges).toEqual([])
})

test('killed after an answer was bought, the same day takes it in for nothing', async () => {
  const { run } = await watch(4, { types: ['cloud'] })
  const purse = await openPurse(world.context, { ...purseOf('moves'), budgetAtomic: 1_000_000n, signal })
  const domains = worldCompanies()
    .slice(0, 4)
    .map(({ domain }) => domain)
    .sort()
  expect((await purse.buy('company.search', { domains })).state).toBe('answered')
  await purse.close()
  expect(purse.bought()).toBe(1)
  const run1 = await run()
  expect(run1).toMatchObject({ end: 'complete', checked: 4 })
  const searches = await world.context.database.db
    .selectFrom('lookups')
    .select('key')
    .where('operation', '=', 'company.search')
    .execute()
  expect(searches).toHaveLength(1)
})
