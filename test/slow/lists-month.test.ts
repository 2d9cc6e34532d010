import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { listMonths } from '../../src/app/money/list-months.ts'
import { readSpend } from '../../src/app/money/spend-report.ts'
import { openCalls } from '../../src/app/service/call-session.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const into = { connector: 'hubspot', entity: 'companies' }
const list = (country: string, more: object = {}) => ({
  search: 'company.search',
  filters: { countries: [country] },
  into,
  ...more,
})

async function open(lists: object) {
  house = await openCrmHouse(sandbox, {
    config: {
      payment: { maxPricesUsd: { 'company.search': '0.015', 'people.search': '0.015' } },
      lists: lists as never,
    },
  })
}

const signal = new AbortController().signal
async function fetch(name: string, budgetAtomic = 10_000_000n) {
  const calls = await listCalls(house.context, name, { asks: false })
  return fetchList(house.context, calls, { budgetAtomic, reachableOnly: true, signal })
}

test('a list spends no more in a month than its cap, says what is left, and others go on', async () => {
  await open({
    german: list('DE', { limit: 100, budgetMonthUsd: '0.03' }),
    french: list('FR', { limit: 25 }),
  })
  const fetched = await fetch('german')
  expect(fetched).toMatchObject({ end: 'budget', bought: 2, list: { pages: 2 } })
  expect(fetched.reason).toBe(
    'the next page may cost 0.015000 USD, and of lists.german.budgetMonthUsd 0.010000 are left until the end of the month',
  )
  expect(await fetch('german')).toMatchObject({ end: 'budget', bought: 0 })
  expect(await fetch('french')).toMatchObject({ end: 'complete', bought: 1 })
  const month = house.context.now().toISOString().slice(0, 7)
  expect(await listMonths(house.context)).toEqual([
    { list: 'german', month, spentAtomic: 20_000n, capAtomic: 30_000n },
    { list: 'french', month, spentAtomic: 10_000n, capAtomic: undefined },
  ])
  const spend = await readSpend(house.context, 'list')
  expect(spend.rows).toMatchObject([
    { list: 'french', charges: 1, settled: '0.010000' },
    { list: 'german', charges: 2, settled: '0.020000' },
  ])
  expect(spend.lists).toEqual([
    { list: 'german', month, spent: '0.020000', cap: '0.030000' },
    { list: 'french', month, spent: '0.010000', cap: null },
  ])
  expect(await house.transfers()).toHaveLength(3)
})

test('the cap holds in the transaction that reserves, whoever buys for the list', async () => {
  await open({ german: list('DE', { budgetMonthUsd: '0.01' }) })
  const call = (page: number) =>
    planCall(
      house.context.config,
      { operation: 'company.search', body: { countries: ['DE'], page } },
      { words: () => [], limits: [], pageSize: undefined, lastPage: undefined },
    )
  const session = await openCalls(house.context, { first: call(1), signal, list: 'german' })
  try {
    expect(await session.buy(call(1))).toMatchObject({ state: 'answered' })
    expect(await session.buy(call(2))).toMatchObject({
      state: 'parked',
      reason: expect.stringContaining('the budget of this list (0.010000 USD) is used up'),
    })
  } finally {
    await session.close()
  }
  expect(await house.transfers()).toHaveLength(1)
})

test('the companies at which people are searched for count in the month of their list', async () => {
  const staff = {
    ...list('DE', { limit: 25, budgetMonthUsd: '0.02' }),
    into: { connector: 'hubspot', entity: 'contacts' },
    people: { perCompany: 2, companies: 25 },
  }
  await open({ staff })
  const fetched = await fetch('staff')
  expect(fetched).toMatchObject({ end: 'budget', bought: 1 })
  expect(fetched.reason).toContain('lists.staff.budgetMonthUsd 0.010000 are left')
  expect(await listMonths(house.context)).toMatchObject([
    { list: 'staff', spentAtomic: 10_000n, capAtomic: 20_000n },
  ])
})
