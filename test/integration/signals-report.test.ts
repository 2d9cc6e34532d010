import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explainScore } from '../../src/app/signals/reporting/explain-score.ts'
import { reportCsv } from '../../src/app/signals/reporting/report-csv.ts'
import { reportText } from '../../src/app/signals/reporting/report-text.ts'
import { scoredPipelines } from '../../src/app/signals/reporting/scored-pipelines.ts'
import { signalsPage } from '../../src/app/signals/reporting/signals-page.ts'
import { makeSignalsReport } from '../../src/app/signals/reporting/signals-report.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { spendBy } from '../../src/store/views/spend.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'
import { bookCharge, keepAccount, scoreDays, signalsConfig } from './signals-report.fixture.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, {
    config: { ...signalsConfig, connectors: quick },
    overrides: { now: () => new Date('2026-11-23T09:00:00Z') },
  })
  await world()
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

const sales = { about: { functions: ['Sales'] } }
const hostile = '=HYPERLINK("https://evil.example") <script>alert(1)</script>'

/** Four accounts: one rises, one only ages and moves its stage, one is new, one is gone. */
async function world() {
  const { context } = house
  const rising = await keepAccount(context, { id: '101', name: 'Rising GmbH', stage: 'expanding' }, [
    {
      title: 'Head of Sales',
      link: 'https://jobs.example/1',
      happened: '2026-11-23',
      seen: '2026-11-23',
      ...sales,
    },
    { title: hostile, link: 'javascript:alert(1)', happened: '2026-11-13', seen: '2026-11-18' },
    { title: 'expanding in ES', type: 'expansion', happened: null, seen: '2026-11-03' },
    { title: 'no rule', type: 'news', happened: '2026-11-22', seen: '2026-11-22' },
  ])
  await scoreDays(context, rising, [{ ago: 7 }, { ago: 1 }])
  const moving = await keepAccount(context, { id: '102', name: null, stage: 'scaling' }, [
    { title: 'old', happened: '2026-11-03', seen: '2026-11-03' },
  ])
  await scoreDays(context, moving, [
    { ago: 7, stage: 'expanding' },
    { ago: 3, stage: 'scaling' },
    { ago: 1, stage: 'scaling' },
  ])
  const added = await keepAccount(context, { id: '103', name: 'Fresh' }, [
    { title: 'Seller', happened: '2026-11-22', seen: '2026-11-22', ...sales },
  ])
  await scoreDays(context, added, [{ ago: 1 }])
  const gone = await keepAccount(context, { id: '104', name: 'Gone' }, [])
  await scoreDays(context, gone, [{ ago: 7 }, { ago: 4 }])
}

const report = (options: Parameters<typeof makeSignalsReport>[2] = {}) =>
  makeSignalsReport(house.context, scoredPipelines(house.context.config), options)
const explain = (id: string, object = 'companies', connector = 'hubspot') =>
  explainScore(house.context, scoredPipelines(house.context.config), { connector, object, id }, undefined)

test('accounts come by change, with evidence, moves, new and gone ones', async () => {
  const { since, pipelines } = await report()
  expect(since).toBe('2026-11-16')
  expect(pipelines).toMatchObject([{ pipeline: 'movers', scoredOn: '2026-11-22', watched: 3 }])
  const [{ moved, added, gone }] = pipelines as [(typeof pipelines)[0]]
  // 20 + 4 halved once + 8 halved twice; seven days before there was 8 halved after 13 days.
  expect(moved.map(({ id, hundredths, changeHundredths }) => [id, hundredths, changeHundredths])).toEqual([
    ['101', 2_400, 2_400 - 325],
    ['103', 1_866, null],
    ['102', 100, -62],
  ])
  expect(moved[0]?.evidence.map(({ title, isNew }) => [title, isNew])).toEqual([
    ['Head of Sales', true],
    [hostile, true],
    ['no rule', true],
  ])
  expect(moved[2]?.moves).toEqual([{ day: '2026-11-20', from: 'expanding', to: 'scaling' }])
  expect(added.map(({ id }) => id)).toEqual(['103'])
  expect(gone.map(({ id }) => id)).toEqual(['104'])
})

test('an explained score is the one of the report, and the sum of its addends', async () => {
  const { account, scores } = await explain('101')
  expect(account.name).toBe('Rising GmbH')
  const [score] = scores as [(typeof scores)[0]]
  expect(score).toMatchObject({
    pipeline: 'movers',
    hundredths: 2_400,
    changeHundredths: 2_075,
    comparedWith: '2026-11-16',
  })
  expect(score.addends.map(({ rule, hundredths }) => [rule, hundredths])).toEqual([
    [1, 2_000],
    [2, 200],
    [3, 200],
  ])
  expect(score.unscored.map(({ title }) => title)).toEqual(['no rule'])
  expect(await explain('101', 'company')).toMatchObject({ account: { recordId: '101' } })
})

test.each<[string, [string, string?, string?], RegExp]>([
  [
    'an id with a typing error',
    ['1011'],
    /hubspot:companies:1011 is not watched: did you mean hubspot:companies:101 \(Rising GmbH\)/,
  ],
  ['a name in place of the id', ['rising gmb'], /did you mean hubspot:companies:101/],
  ['an id that nothing resembles', ['999999999'], /no pipeline has seen this record/],
  ['another CRM', ['001', 'Account', 'salesforce'], /no account of it was seen by a pipeline yet/],
  [
    'an object that there is not',
    ['101', 'deals'],
    /hubspot has no object deals; there are companies, contacts/,
  ],
])('%s is refused with what may have been meant', async (_, name, message) => {
  await expect(explain(...name)).rejects.toThrow(message)
})

test.each<[string, Parameters<typeof report>[0], RegExp]>([
  ['an unknown pipeline', { pipeline: 'mover' }, /there is no pipeline mover; did you mean movers/],
  ['a period that is none', { since: 'week' }, /--since week: give days or weeks/],
  ['a period of nothing', { since: '0d' }, /--since 0d/],
  ['a day that there is not', { since: '2026-02-31' }, /--since 2026-02-31/],
  ['a day ahead', { since: '2026-12-24' }, /--since 2026-12-24/],
])('%s is refused', async (_, options, message) => {
  await expect(report(options)).rejects.toThrow(message)
})

test('the period is days, weeks, or a day', async () => {
  for (const since of ['14d', '2w', '2026-11-09']) expect((await report({ since })).since).toBe('2026-11-09')
})

test('what was paid is what the ledger says for these days', async () => {
  const { context } = house
  const list = 'signals/movers'
  await bookCharge(context, { id: 'before', list, at: '2026-11-16T23:59:59Z', amount: 7n, state: 'settled' })
  await bookCharge(context, { id: 'a', list, at: '2026-11-17T00:00:00Z', amount: 20_000n, state: 'settled' })
  await bookCharge(context, { id: 'b', list, at: '2026-11-20T10:00:00Z', amount: 15_000n, state: 'settled' })
  await bookCharge(context, { id: 'c', list, at: '2026-11-21T10:00:00Z', amount: 10_000n, state: 'lost' })
  await bookCharge(context, { id: 'd', list, at: '2026-11-22T10:00:00Z', amount: 5_000n, state: 'in_doubt' })
  await bookCharge(context, { id: 'e', list, at: '2026-11-22T11:00:00Z', amount: 9n, state: 'declined' })
  const { pipelines } = await report()
  expect(pipelines[0]?.cost).toEqual([
    { currency: 'USD', charges: 3, settled: '0.035000', inDoubt: '0.005000', lost: '0.010000' },
  ])
  const days = (await spendBy(context.database.db, 'day')).filter(({ name }) => name > '2026-11-16')
  const sum = (of: 'settledAtomic' | 'inDoubtAtomic' | 'lostAtomic') =>
    days.reduce((all, row) => all + row[of], 0n)
  expect([sum('settledAtomic'), sum('inDoubtAtomic'), sum('lostAtomic')]).toEqual([35_000n, 5_000n, 10_000n])
})

test('texts from outside stay text on the page, and run nothing in a spreadsheet', async () => {
  const made = await report()
  const page = signalsPage(made)
  expect(page).not.toContain('<script')
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page.match(/href="[^"]*"/g)).toEqual(['href="https://jobs.example/1"'])
  const rows: Record<string, string>[] = parse(reportCsv(made), { columns: true })
  expect(rows.map(({ kind, account }) => `${kind} ${account}`)).toEqual([
    'moved hubspot:companies:101',
    'moved hubspot:companies:103',
    'moved hubspot:companies:102',
    'new hubspot:companies:103',
    'gone hubspot:companies:104',
    'cost ',
  ])
  expect(rows[0]).toMatchObject({ score: '24', change: '20.75', evidence_1_title: 'Head of Sales' })
  expect(rows[0]?.['evidence_2_title']).toMatch(/^'=HYPERLINK/)
  expect(rows[2]).toMatchObject({ change: '-0.62', stage_moves: 'expanding → scaling (2026-11-20)' })
  const text = reportText(made, 2)
  expect(text).toContain('Rising GmbH (hubspot:companies:101)  24 (+20.75)')
  expect(text).toContain('and 1 more')
})

test('a report for an owner asks the CRM for the owners of what moved', async () => {
  const { hubspot, add, context } = house
  const [owner] = hubspot.store.owners.values()
  const id = add('companies', { name: 'Owned', hubspot_owner_id: owner!.id })
  for (const each of [id, add('companies', { name: 'Other' })]) {
    const account = await keepAccount(context, { id: each, name: each }, [
      { title: 'job', happened: '2026-11-22', seen: '2026-11-22' },
    ])
    await scoreDays(context, account, [{ ago: 1 }])
  }
  const byId = await report({ owner: owner!.id })
  expect(byId.pipelines[0]?.moved.map((account) => account.id)).toEqual([id])
  const byName = await report({ owner: byId.owner!.name.toUpperCase() })
  expect(byName.pipelines[0]?.moved).toMatchObject([{ id, owner: { id: owner!.id } }])
  await expect(report({ owner: 'nobody at all' })).rejects.toThrow(
    /no account of this report belongs to nobody at all; its owners are/,
  )
})
