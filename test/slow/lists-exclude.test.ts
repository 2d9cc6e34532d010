import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { fileSchema } from '../../src/app/config/file.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { readList } from '../../src/app/lists/pages/read-list.ts'
import { meets } from '../../src/connectors/filter.ts'
import { parseFilter } from '../../src/connectors/parse-filter.ts'
import { createListExclusions } from '../../src/store/lists/list-exclusions.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'
import { openListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let house: Pick<CrmHouse, 'close'> | undefined
/** The rows of the two searches, as another account has bought them. */
let companies: Row[]
let people: Row[]
type Row = { values: Readonly<Record<string, unknown>> }

const ofCompanies = {
  search: 'company.search',
  filters: { countries: ['DE'] },
  into: { connector: 'hubspot', entity: 'companies' },
  limit: 25,
}
const ofPeople = {
  search: 'people.search',
  filters: { domains: ['amber-networks.example'] },
  into: { connector: 'hubspot', entity: 'contacts' },
  limit: 10,
}
const payment = { maxPricesUsd: { 'company.search': '0.05', 'people.search': '0.05' } }
const customers = { entity: 'companies', filter: 'lifecyclestage=customer' }

async function open(lists: object, env: Record<string, string> = {}): Promise<CrmHouse> {
  const opened = await openCrmHouse(sandbox, { config: { payment, lists: lists as never }, env })
  house = opened
  return opened
}
const signal = new AbortController().signal
async function fetch({ context }: Pick<CrmHouse, 'context'>, name: string, stop = signal) {
  const calls = await listCalls(context, name, { asks: false })
  return fetchList(context, calls, { budgetAtomic: 10_000_000n, reachableOnly: true, signal: stop })
}
const rowsOf = (opened: CrmHouse) =>
  opened.context.database.db
    .selectFrom('list_rows')
    .select('cells')
    .orderBy('fetch_id')
    .orderBy('ordinal')
    .execute()
const kept = (opened: CrmHouse) =>
  opened.context.database.db
    .selectFrom('list_exclusions' as never)
    .selectAll()
    .execute()

beforeAll(async () => {
  sandbox = await startSandbox()
  const opened = await open({ companies: ofCompanies, people: ofPeople })
  await fetch(opened, 'companies')
  companies = (await rowsOf(opened)).map(({ cells }) => ({ values: cells }))
  await fetch(opened, 'people')
  people = (await rowsOf(opened)).slice(companies.length).map(({ cells }) => ({ values: cells }))
  await opened.close()
  house = undefined
})
afterAll(() => sandbox.stop())
beforeEach(() => void sandbox.faults.reset())
afterEach(async () => {
  await house?.close()
  house = undefined
})

test('customers are left out of a list in every spelling, others stay, and nothing of the reading is kept', async () => {
  const opened = await open({ all: { ...ofCompanies, exclude: { filters: [customers] } } })
  const [byDomain, byProfile, other] = companies.map(({ values }) => values)
  opened.add('companies', {
    domain: `https://www.${String(byDomain!['domain'])}/de`,
    lifecyclestage: 'customer',
  })
  opened.add('companies', {
    profnet_url: `${String(byProfile!['profnet_url'])}/?x`,
    lifecyclestage: 'customer',
  })
  opened.add('companies', { domain: String(other!['domain']), lifecyclestage: 'lead' })
  opened.add('companies', { domain: 'elsewhere.example', lifecyclestage: 'customer' })
  const found: unknown[] = []
  const calls = await listCalls(opened.context, 'all', { asks: false })
  const { list, end } = await fetchList(opened.context, calls, {
    budgetAtomic: 10_000_000n,
    reachableOnly: true,
    signal,
    onExcluding: (each) => void found.push({ ...each }),
  })
  expect({ end, dropped: list.dropped, rows: list.rows }).toEqual({
    end: 'complete',
    dropped: { excluded: 2 },
    rows: 23,
  })
  expect(found.at(-1)).toEqual({
    place: 'lists.all.exclude.filters[0]',
    connector: 'hubspot',
    entity: 'companies',
    records: 3,
    nameless: 0,
  })
  expect(await kept(opened)).toEqual([])
  expect(tracesIn(await dumpLedger(opened.context), ['"reading"'])).toEqual([])
})

test('people go with their employer, and by their own record', async () => {
  const [first] = people.filter(({ values }) => values['profnet_url'] !== undefined)
  const flagged = { entity: 'contacts', filter: ['jobtitle=Do not contact'] }
  const one = await open({ all: { ...ofPeople, exclude: { filters: [flagged] } } })
  one.add('contacts', { profnet_url: String(first!.values['profnet_url']), jobtitle: 'Do not contact' })
  expect((await fetch(one, 'all')).list.dropped).toEqual({ excluded: 1 })
  await one.close()

  const all = await open({ all: { ...ofPeople, exclude: { filters: [customers] } } })
  all.add('companies', { domain: 'Amber-Networks.example', lifecyclestage: 'customer' })
  expect((await fetch(all, 'all')).list).toMatchObject({ rows: 0, dropped: { excluded: people.length } })
})

test.each([
  [
    'a property that is not there',
    { filter: 'lifecyclestag=customer' },
    /exclude\.filters\[1\]: .*lifecyclestag.*lifecyclestage/,
  ],
  [
    'an object that is not there',
    { entity: 'deals', filter: 'a=b' },
    /exclude\.filters\[1\]: .*no object deals.*companies/,
  ],
  [
    'a CRM that is not set up',
    { connector: 'salesforce', entity: 'Account', filter: 'a=b' },
    /exclude\.filters\[1\]: salesforce is not set up/,
  ],
  ['another CRM without an object', { connector: 'salesforce', filter: 'a=b' }, /exclude\.filters\[1\]: /],
])('%s refuses before anything is bought', async (_, filter, problem) => {
  const opened = await open({ all: { ...ofCompanies, exclude: { filters: [customers, filter] } } })
  opened.add('companies', { domain: 'a.example', lifecyclestage: 'customer' })
  await expect(fetch(opened, 'all')).rejects.toThrow(problem)
  expect(await opened.transfers()).toEqual([])
  expect(await kept(opened)).toEqual([])
})

test('a filter that is none is refused with its place in the settings', () => {
  const lists = { all: { ...ofCompanies, exclude: { filters: [{ filter: 'lifecyclestage' }] } } }
  const checked = fileSchema.safeParse({ lists })
  expect(checked.error?.issues).toMatchObject([{ path: ['lists', 'all', 'exclude', 'filters', 0, 'filter'] }])
})

test('a CRM that cannot be read leaves nobody out in silence: nothing is taken in or bought', async () => {
  const lists = { all: { ...ofCompanies, exclude: { filters: [customers] } } }
  const opened = await open(lists, { HUBSPOT_ACCESS_TOKEN: 'revoked' })
  await expect(fetch(opened, 'all')).rejects.toThrow(/lists\.all\.exclude\.filters\[0\]: /)
  const stop = new AbortController()
  stop.abort()
  expect(await fetch(opened, 'all', stop.signal)).toMatchObject({
    end: 'interrupted',
    bought: 0,
    list: { rows: 0 },
  })
  expect(await opened.transfers()).toEqual([])
  expect(await kept(opened)).toEqual([])
})

test('a list that is only shown takes in no row that was not compared', async () => {
  const opened = await open({
    plain: ofCompanies,
    all: { ...ofCompanies, exclude: { filters: [customers] } },
  })
  await fetch(opened, 'plain')
  const calls = await listCalls(opened.context, 'all', { asks: false })
  expect(await readList(opened.context, calls)).toMatchObject({ rows: 0, pages: 0 })
  expect(await fetch(opened, 'all')).toMatchObject({ end: 'complete', bought: 0, list: { rows: 25 } })
})

test('the plan reads the filters anew: who became a customer since the fetch is left out', async () => {
  const world = await openListWorld(sandbox, 'hubspot', {
    list: { exclude: { filters: [{ filter: 'lifecyclestage=customer' }] } },
  })
  house = world
  const rows = await world.fetch()
  await world.index()
  world.add({
    name: 'Elsewhere',
    website: 'x.example',
    lifecyclestage: 'customer',
    domain: String(rows[2]?.values['domain']),
  })
  const plan = await world.plan()
  expect(plan).toMatchObject({ creates: 4, verdicts: { new: 4, excluded: 1 } })
})

test('a reading that a killed command has left behind is deleted after a day', async () => {
  const opened = await open({ all: ofCompanies })
  const { db } = opened.context.database
  const at = (ms: number) => createListExclusions(db, { now: () => new Date(ms) })
  await at(0).add('killed', [{ object: 'company', kind: 'domain', value: 'a.example' }])
  await at(80_000_000).drop('another')
  expect(await kept(opened)).toHaveLength(1)
  await at(90_000_000).drop('another')
  expect(await kept(opened)).toEqual([])
})

test('the conditions of the guide on open deals mean one or more, and neither none nor unknown', () => {
  const conditions = ['hs_num_open_deals!=', 'hs_num_open_deals!=0'].map((text) => parseFilter(text)!)
  const isMet = (deals: string | null) => meets({ hs_num_open_deals: deals }, conditions)
  expect([null, '', '0', '1', '12'].map(isMet)).toEqual([false, false, false, true, true])
})
