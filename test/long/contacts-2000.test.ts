import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { makeCrowd, toCsv, type Crowd } from './contacts-2000/crowd.ts'
import { expectedOf, filledColumns, type Expected, type Paid } from './contacts-2000/expected.ts'

let sandbox: Sandbox
let desk: Desk | undefined
const config: FileConfig = {
  payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } },
  budgets: { runUsd: '5000', dayUsd: '5000' },
  pacing: { startPerSecond: 2_000 },
  recipes: {
    reach: {
      person: {
        fields: Object.keys(filledColumns),
        steps: ['contact.lookup', 'person.profile', 'contact.redeem'],
      },
    },
  },
}
const command = ['csv', 'in.csv', '--object', 'person', '--recipe', 'reach', '--out', 'out.csv', '--json']

beforeAll(async () => {
  sandbox = await startSandbox({ apiKeys: { [API_KEY]: { credit: 100_000, topupCredit: 0 } } })
})
afterEach(() => desk?.close())
afterAll(() => sandbox.stop())

test('2,000 contacts: every row, charge and field is what the service’s own data come to', async () => {
  const crowd = makeCrowd(2_000, testSeed())
  const expected = expectedOf(crowd.rows, crowd.suppressed)
  hasAllKinds(crowd, expected)
  desk = await openDesk(sandbox, { fundsAtomic: 2_000_000_000n, config })
  await lay(desk, crowd)

  const run = await desk.run(command)
  expect([run.status, run.status === 0 ? '' : run.stderr]).toEqual([0, ''])
  const total = totalOf(expected.challenged)
  expect(run.json<RunSummary>()).toMatchObject({
    records: 2_000,
    lookups: {
      unique: expected.unique,
      paid: totalOf(expected.bought),
      cached: 0,
      notFound: expected.notFound,
      duplicates: expected.duplicates,
    },
    tasks: { ...countsOf(expected), rejected: 0, parked: 0 },
    spend: { currency: 'USD', settled: usd(total), inDoubt: usd(0), lost: usd(0) },
  })
  await everyRowIsAsExpected(desk, crowd, expected)
  expect(await spentBy(desk)).toEqual(expected.challenged)
  const onChain = (await desk.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
  expect(onChain).toBe(BigInt(total) * 10_000n)
  expect(sandbox.stats()).toMatchObject({ keysPaid: totalOf(expected.bought), keysPaidTwice: 0 })

  const before = sandbox.stats().requests
  const again = await desk.run(command)
  expect(again.json<RunSummary>()).toMatchObject({
    lookups: { unique: expected.unique, paid: 0, cached: expected.unique, duplicates: expected.duplicates },
    tasks: countsOf(expected),
    spend: { settled: usd(0) },
  })
  expect(sandbox.stats().requests).toBe(before)
  await everyRowIsAsExpected(desk, crowd, expected)
}, 600_000)

test('300 of them with direct access: the credits are those of what was found', async () => {
  const crowd = makeCrowd(300, testSeed() + 1)
  const expected = expectedOf(crowd.rows, crowd.suppressed)
  desk = await openDesk(sandbox, { fundsAtomic: 0n, config })
  await lay(desk, crowd)
  const direct = {
    PAYDIRT_API_KEY: API_KEY,
    PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
    PAYDIRT_WALLET_KEY: undefined,
  }
  const run = await desk.run(command, direct)
  expect([run.status, run.status === 0 ? '' : run.stderr]).toEqual([0, ''])
  expect(run.json<RunSummary>()).toMatchObject({
    lookups: { unique: expected.unique, notFound: expected.notFound, duplicates: expected.duplicates },
    tasks: { ...countsOf(expected), rejected: 0, parked: 0 },
  })
  await everyRowIsAsExpected(desk, crowd, expected)
  expect(sandbox.account(API_KEY)?.spent).toBe(totalOf(expected.credited))
  expect(await spentBy(desk, direct)).toEqual(expected.credited)
}, 300_000)

/** The file is what the test's name says. */
function hasAllKinds({ rows, suppressed }: Crowd, expected: Expected): void {
  const share = (count: number) => Math.round((count / rows.length) * 100)
  expect(share(rows.filter(({ profnet_url: url }) => url === '').length)).toBeCloseTo(30, -1)
  expect(share(suppressed.length)).toBeGreaterThanOrEqual(4)
  const everyTenth = expected.unique / 10
  expect(expected.notFound).toBeGreaterThan(everyTenth * 0.8)
  expect(share(expected.duplicates)).toBeGreaterThanOrEqual(13)
  expect(countsOf(expected).skipped).toBeGreaterThan(suppressed.length)
  expect(Math.min(...Object.values(expected.filled), ...Object.values(expected.bought))).toBeGreaterThan(200)
}

async function lay(at: Desk, { rows, suppressed }: Crowd): Promise<void> {
  await at.write('in.csv', toCsv(rows))
  const named = suppressed.flatMap(({ kind, value }) => [`--${kind.replace('_', '-')}`, value])
  const added = await at.run(['suppress', 'add', '--json', ...named])
  expect(added.json()).toEqual({ added: suppressed.length, given: suppressed.length })
}

async function everyRowIsAsExpected(at: Desk, { rows }: Crowd, expected: Expected): Promise<void> {
  const out = await at.rows('out.csv')
  const seen = out.map((row) => ({
    id: row['id'],
    status: row['paydirt_status'],
    values: Object.fromEntries(
      Object.entries(filledColumns).flatMap(([field, column]) => (row[column] ? [[field, row[column]]] : [])),
    ),
  }))
  expect(seen).toEqual(expected.rows.map((row, index) => ({ id: rows[index]?.id, ...row })))
  const filled = Object.entries(filledColumns).map(([field, column]) => [
    field,
    out.filter((row) => row[column] !== '').length,
  ])
  expect(Object.fromEntries(filled)).toEqual(expected.filled)
}

/** In credits, by what was bought, from the ledger's own report. */
async function spentBy(at: Desk, env?: Record<string, string | undefined>): Promise<Record<Paid, number>> {
  const { rows } = (await at.run(['spend', '--by', 'endpoint', '--json'], env)).json<{
    rows: { endpoint: string; currency: string; settled: string }[]
  }>()
  const sums: Record<Paid, number> = { 'contact.lookup': 0, 'person.profile': 0, 'email-work': 0, phone: 0 }
  for (const { endpoint, currency, settled } of rows) {
    const paid: Paid = /email-work/.test(endpoint)
      ? 'email-work'
      : /phone\)/.test(endpoint)
        ? 'phone'
        : /contact/.test(endpoint)
          ? 'contact.lookup'
          : 'person.profile'
    sums[paid] += Math.round(Number(settled) * (currency === 'credit' ? 1 : 100))
  }
  return sums
}

function countsOf({ rows }: Expected): Record<'written' | 'unchanged' | 'skipped', number> {
  const count = (status: string) => rows.filter((row) => row.status === status).length
  return { written: count('written'), unchanged: count('unchanged'), skipped: count('skipped') }
}

function totalOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function usd(credits: number): string {
  return (credits / 100).toFixed(6)
}
