import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { ListsConfig } from '../../src/app/config/lists.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { createContext } from '../../src/app/context/context.ts'
import { forget } from '../../src/app/records/forget.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { acceptRename } from '../../src/store/contract/accepted-renames.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
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

const companies = {
  search: 'company.search',
  filters: { countries: ['DE'] },
  into: { connector: 'hubspot', entity: 'companies' },
} as const
const people = {
  search: 'people.search',
  filters: { domains: ['amber-networks.example'] },
  into: { connector: 'hubspot', entity: 'contacts' },
} as const

async function open(lists: Record<string, Partial<ListsConfig[string]>>) {
  house = await openCrmHouse(sandbox, {
    config: {
      payment: {
        maxPricesUsd: { 'company.search': '0.05', 'people.search': '0.05', 'people.similar': '0.05' },
      },
      lists: lists as never,
    },
  })
}

const signal = new AbortController().signal
async function fetch(name: string) {
  const calls = await listCalls(house.context, name, { asks: false })
  const fetched = await fetchList(house.context, calls, {
    budgetAtomic: 10_000_000n,
    reachableOnly: false,
    signal,
  })
  return { ...fetched, calls, rows: await allRows(house.context, calls) }
}

/** Returns the rows of a list as another account would have bought them. */
async function rowsOf(list: Partial<ListsConfig[string]>) {
  await open({ all: list })
  const { rows } = await fetch('all')
  await house.close()
  return rows
}

test('nothing of a suppressed company is stored, its place is counted, and no further page is bought for it', async () => {
  const before = await rowsOf({ ...companies, limit: 60 })
  const gone = [3, 24, 25].map((at) => before[at]!)
  await open({ german: { ...companies, limit: 60 } })
  await house.context.suppressions.add(
    gone.map(({ values }) => ({ kind: 'domain' as const, value: String(values['domain']) })),
  )
  const { list, end, bought, rows } = await fetch('german')
  expect({ end, bought }).toEqual({ end: 'complete', bought: 3 })
  expect(list.dropped).toEqual({ suppressed: 3 })
  const ids = new Set(gone.map(({ serviceId }) => serviceId))
  expect(rows).toEqual(before.filter(({ serviceId }) => !ids.has(serviceId)))
  const words = gone.flatMap(({ values }) => [String(values['domain']), String(values['profnet_url'])])
  expect(tracesIn(await dumpLedger(house.context), words)).toEqual([])
})

test('a page whose rows are all suppressed is not the last one', async () => {
  const before = await rowsOf({ ...companies, limit: 50 })
  await open({ german: { ...companies, limit: 50 } })
  await house.context.suppressions.add(
    before.slice(0, 25).map(({ values }) => ({ kind: 'domain' as const, value: String(values['domain']) })),
  )
  const { list, end } = await fetch('german')
  expect({ end, pages: list.pages, rows: list.rows, dropped: list.dropped }).toEqual({
    end: 'complete',
    pages: 2,
    rows: 25,
    dropped: { suppressed: 25 },
  })
})

test('no e-mail is revealed for suppressed people: the ledger does not know them', async () => {
  const before = await rowsOf({ ...people, limit: 25 })
  await open({ finance: { ...people, limit: 25 } })
  const person = before.find(({ values }) => values['profnet_url'] !== undefined)!
  await house.context.suppressions.add([
    ...readIdentifiers({ profile_url: [String(person.values['profnet_url'])] }),
  ])
  const { list } = await fetch('finance')
  expect(list.dropped).toEqual({ suppressed: 1 })
  expect(tracesIn(await dumpLedger(house.context), [String(person.values['profnet_url'])])).toEqual([])
  const asked = await house.context.database.db.selectFrom('lookups').select('operation').distinct().execute()
  expect(asked).toEqual([{ operation: 'people.search' }])
})

test('a company that is suppressed after its page was stored is judged as suppressed', async () => {
  await open({ german: { ...companies, limit: 25 } })
  const { rows, calls } = await fetch('german')
  await house.context.suppressions.add([{ kind: 'domain', value: String(rows[2]!.values['domain']) }])
  const judged = await allJudged(house.context, calls)
  expect(judged.map(({ verdict }) => verdict).slice(0, 4)).toEqual(['new', 'new', 'suppressed', 'new'])
})

test('forgetting a company empties its place in every page, and the list does not end there', async () => {
  const list = { ...companies, limit: 60 }
  await open({ german: list })
  const before = (await fetch('german')).rows
  const row = before.find(({ values }) => values['profnet_url'] !== undefined)!
  const [domain, profile] = [String(row.values['domain']), String(row.values['profnet_url'])]
  expect(tracesIn(await dumpLedger(house.context), [domain])).not.toEqual([])
  await forget(house.context, readIdentifiers({ profile_url: [profile] }), { suppress: false })
  expect(
    tracesIn(await dumpLedger(house.context), [domain, profile.slice(profile.indexOf('/company/'))]),
  ).toEqual([])
  const { list: after, bought, end, rows } = await fetch('german')
  expect({ bought, end, dropped: after.dropped }).toEqual({
    bought: 0,
    end: 'complete',
    dropped: { forgotten: 1 },
  })
  expect(rows).toEqual(before.filter((each) => each !== row))
})

test('forgetting a person reaches pages, and searches that were made for its profile', async () => {
  await open({ finance: { ...people, limit: 25 } })
  const { rows } = await fetch('finance')
  const person = rows.find(({ values }) => values['profnet_url'] !== undefined)!
  const profile = String(person.values['profnet_url'])
  const config = { ...house.context.config.lists['finance']!, search: 'people.similar' as const }
  Object.assign(house.context.config.lists, {
    like: { ...config, filters: { profnet_url: profile }, limit: 25 },
  })
  expect(await fetch('like')).toMatchObject({ end: 'complete', bought: 1 })
  const slug = profile.slice(profile.indexOf('/in/'))
  expect(tracesIn(await dumpLedger(house.context), [slug]).length).toBeGreaterThan(2)
  await forget(house.context, readIdentifiers({ profile_url: [profile] }), { suppress: true })
  expect(tracesIn(await dumpLedger(house.context), [slug])).toEqual([])
})

test('a row whose subject is forgotten while its page is taken in does not stay', async () => {
  await open({ german: { ...companies, limit: 25 } })
  const { context } = house
  const match = context.suppressions.match
  let gone: { domain: string; profile: string } | undefined
  // The page is compared with the suppression list, and then, before its rows are stored, one of them is forgotten.
  const suppressions = {
    ...context.suppressions,
    async match(...args: Parameters<typeof match>) {
      const before = await match(...args)
      const { rows } = await sql<{ answer: unknown }>`
        select answer from lookups where answer is not null`.execute(context.database.db)
      if (gone || rows.length === 0) return before
      const listed = (rows[0]!.answer as { data: { companies: Record<string, string>[] } }).data.companies
      const row = listed.find((each) => each['profnet_url'])!
      gone = { domain: String(row['domain']), profile: String(row['profnet_url']) }
      await forget(context, readIdentifiers({ profile_url: [gone.profile] }), { suppress: true })
      return before
    },
  }
  const calls = await listCalls(context, 'german', { asks: false })
  const options = { budgetAtomic: 10_000_000n, reachableOnly: true, signal }
  const { list } = await fetchList({ ...context, suppressions }, calls, options)
  expect(list).toMatchObject({ rows: 24, dropped: { forgotten: 1 } })
  expect(tracesIn(await dumpLedger(context), [gone!.domain])).toEqual([])
})

test('a page under a name that the service ignored is bought again once the new name is accepted', async () => {
  await open({ german: { ...companies, limit: 25 } })
  sandbox.faults.set({
    renamedKeys: [{ only: ['companies_search'], from: 'countries', to: 'country_names', isFollowed: false }],
  })
  expect(await fetch('german')).toMatchObject({ end: 'unusable', bought: 1 })
  const { now, database, config } = house.context
  await acceptRename(database.db, {
    operation: 'company.search',
    field: 'countries',
    wireName: 'country_names',
    acceptedAt: now(),
  })
  await house.leave()
  const context = await createContext(config)
  try {
    const calls = await listCalls(context, 'german', { asks: false })
    const options = { budgetAtomic: 10_000_000n, reachableOnly: true, signal }
    expect(await fetchList(context, calls, options)).toMatchObject({
      end: 'complete',
      bought: 1,
      list: { rows: 25 },
    })
    expect(await fetchList(context, calls, options)).toMatchObject({ end: 'complete', bought: 0 })
  } finally {
    await context.close()
  }
})
