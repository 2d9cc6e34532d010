import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import type { ListsConfig } from '../../src/app/config/lists.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { indexOfList, judgeList } from '../../src/app/lists/judging/judge-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { listRowOf } from '../../src/domain/lists/list-row.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { allJudged, allRows } from '../support/list-rows.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  sandbox.faults.reset()
  await house.close()
})

const german = {
  search: 'company.search',
  filters: { countries: ['DE'] },
  into: { connector: 'hubspot', entity: 'companies' },
} as const

async function open(list: Partial<ListsConfig[string]> = {}, more: FileConfig = {}) {
  house = await openCrmHouse(sandbox, {
    config: {
      connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } },
      payment: { maxPricesUsd: { 'company.search': '0.05' } },
      lists: { german: { ...german, ...list } as never },
      ...more,
    },
  })
  return listCalls(house.context, 'german', { asks: false })
}

const signal = new AbortController().signal
const fetch = (calls: Awaited<ReturnType<typeof open>>, more: object = {}) =>
  fetchList(house.context, calls, { budgetAtomic: 10_000_000n, reachableOnly: false, signal, ...more })

test('pages are bought once, in order, within the budget, and a second fetch goes on', async () => {
  const calls = await open({ limit: 60 })
  const first = await fetch(calls, { budgetAtomic: 60_000n })
  expect(first).toMatchObject({ end: 'budget', bought: 1, list: { pages: 1 } })
  const second = await fetch(calls)
  expect(second).toMatchObject({ end: 'complete', bought: 2, list: { pages: 3, isComplete: true } })
  expect(second.list.rows).toBe(60)
  expect(await fetch(calls)).toMatchObject({ end: 'complete', bought: 0 })
  const rows = await allRows(house.context, calls)
  expect(new Set(rows.map(({ serviceId }) => serviceId)).size).toBe(60)
  expect(rows.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1))
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(3)
})

test('each row is judged against the CRM’s records in every spelling', async () => {
  const calls = await open({ limit: 25 })
  await fetch(calls)
  const [byProfile, byDomain, byName, other] = await allRows(house.context, calls)
  house.add('companies', {
    name: 'x',
    profnet_url: `http://de.${String(byProfile?.values['profnet_url']).replace(/^https?:\/\/(www\.)?/, '')}/?x=1`,
  })
  house.add('companies', { name: 'y', domain: `https://WWW.${byDomain?.values['domain']}/about` })
  house.add('companies', { name: String(byName?.values['company_name']).toUpperCase() })
  await house.sync('companies')
  await house.context.suppressions.add([
    { kind: 'domain', value: String(other?.values['domain']), isCompany: true },
  ])
  const rows = await allJudged(house.context, calls)
  expect(rows.slice(0, 4).map(({ verdict }) => verdict)).toEqual([
    'exists',
    'exists',
    'possible',
    'suppressed',
  ])
  expect(new Set(rows.slice(4).map(({ verdict }) => verdict))).toEqual(new Set(['new']))
  expect((await indexOfList(house.context, calls.settings))?.isComplete ?? false).toBe(false)
})

test('a search that ignores a filter stops after one page, and nothing is made of its rows', async () => {
  const calls = await open()
  sandbox.faults.set({ droppedFilters: [{ key: 'countries', silent: false }] })
  const fetched = await fetch(calls)
  expect(fetched).toMatchObject({ end: 'unusable', list: { pages: 1 } })
  expect(fetched.reason).toContain('ignored countries')
  expect(await fetch(calls)).toMatchObject({ end: 'unusable', bought: 0 })
})

test('a list behind the last page is refused before its second page, unless that is wanted', async () => {
  const calls = { ...(await open()), lastPage: 2 }
  await expect(fetch(calls)).rejects.toThrow(/rows stay outside.*--reachable-only/)
  const fetched = await fetch(calls, { reachableOnly: true })
  expect(fetched).toMatchObject({ end: 'complete', list: { pages: 2 } })
  expect(fetched.list.total).toBeGreaterThan(50)
})

test('people are left out with the domain of their employer, in any spelling', async () => {
  const calls = await open({
    search: 'people.search',
    filters: { people_titles: ['CFO'] },
    into: { connector: 'hubspot', entity: 'contacts' },
    exclude: { domains: ['https://www.Out.example/about'] },
  })
  const person = (domain: string) =>
    listRowOf(
      'person',
      { name: 'Ann Lee', domain, people_search_id: domain },
      { page: 1, idName: 'people_search_id' },
    )
  const rows = await judgeList(house.context, calls.settings, [
    person('shop.out.example'),
    person('in.example'),
  ])
  expect(rows.map(({ verdict }) => verdict)).toEqual(['excluded', 'new'])
})

test('a page that is never fresh is bought once, and not again and again', async () => {
  const calls = await open({}, { freshness: { operations: { 'company.search': { foundDays: 0 } } } })
  const fetched = await fetch(calls)
  expect(fetched).toMatchObject({ end: 'unusable', bought: 1 })
  expect(fetched.reason).toContain('not fresh')
  expect(fetched.charges).toMatchObject([{ state: 'settled', amountAtomic: 10_000n }])
})

test('a list or filter that is not there is named with what is near', async () => {
  await open()
  await expect(listCalls(house.context, 'germna', { asks: false })).rejects.toThrow(
    /near: german|there are german/,
  )
  await house.close()
  const wrong = open({ filters: { contries: ['DE'] } })
  await expect(wrong).rejects.toThrow(/lists\.german: .*contries.*countries/)
})
