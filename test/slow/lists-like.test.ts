// One file because all lists are like the same references of one world.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ListsConfig } from '../../src/app/config/lists.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { listMonth } from '../../src/app/money/list-months.ts'
import { planList } from '../../src/app/lists/making/plan-list.ts'
import { forget } from '../../src/app/records/forget.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { listDocument, listText } from '../../src/cli/lists/list-text.ts'
import { patchOf } from '../../src/domain/lists/list-draft.ts'
import { readList } from '../../src/app/lists/pages/read-list.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { judgedRows } from '../../src/app/lists/judging/judged-rows.ts'
import { similarityOf } from '../../src/domain/lists/fuse-ranks.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { people } from '../../src/sandbox/world/people.ts'
import { collect, csvDirectory } from '../fixtures/csv-files.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  sandbox.faults.reset()
  await house.close()
})

const signal = new AbortController().signal
// They have one branch and size, so that the same companies are like them.
const [alpha, beta, gamma] = [
  ...Map.groupBy(
    worldCompanies().filter(({ place }) => place.country === 'DE'),
    ({ industry, size }) => `${industry}|${size[2]}`,
  ).values(),
].find((kin) => kin.length >= 5)!
/** Companies at which several people can be found. */
const staffed = [...Map.groupBy(people(), ({ employer }) => employer.domain).values()]
  .filter((colleagues) => colleagues.length >= 3)
  .slice(0, 2)
  .map(([one]) => one!.employer)
const similar = {
  search: 'company.similar',
  filters: { countries: ['DE'] },
  into: { connector: 'hubspot', entity: 'companies' },
} as const

async function open(list: Partial<ListsConfig[string]>) {
  house = await openCrmHouse(sandbox, {
    config: {
      connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } },
      payment: {
        maxPricesUsd: {
          'company.search': '0.05',
          'company.similar': '0.05',
          'people.similar': '0.05',
          'people.search': '0.05',
          'expansion.search': '0.05',
        },
      },
      lists: { dach: { ...similar, ...list } as never },
    },
  })
  return () => listCalls(house.context, 'dach', { asks: false, reads: signal })
}

const fetch = async (calls: Awaited<ReturnType<typeof listCalls>>, more: object = {}) =>
  fetchList(house.context, calls, { budgetAtomic: 100_000_000n, reachableOnly: false, signal, ...more })
const rowsOf = async (calls: Awaited<ReturnType<typeof listCalls>>) =>
  (await collect(judgedRows(house.context, calls))).flat()

test('each reference is one question, and the rows that several name come first', async () => {
  const calls = await (
    await open({ like: { domains: [alpha!.domain, beta!.domain, `https://www.${alpha!.domain}/about`] } })
  )()
  expect(calls.parts).toHaveLength(2)
  const fetched = await fetch(calls)
  expect(fetched).toMatchObject({ end: 'complete', bought: 2, list: { isComplete: true, pages: 2 } })
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(2)
  const rows = await rowsOf(calls)
  const scores = rows.map(({ row }) => similarityOf('company', row.found)!)
  expect(scores).toEqual([...scores].sort((a, b) => b - a))
  expect(scores[0]).toBeGreaterThan(1 / 61)
  expect(rows[0]!.row.found.map(({ part }) => part).sort()).toEqual([0, 1])
  expect(rows.map(({ ordinal }) => ordinal)).toEqual(rows.map((_, at) => at + 1))
  const domains = rows.map(({ row }) => row.values['domain'])
  expect(domains).not.toContain(alpha!.domain)
  expect(domains).not.toContain(beta!.domain)
  expect(await fetch(calls)).toMatchObject({ end: 'complete', bought: 0 })
})

test('the score filters and sorts, and the limit takes the best', async () => {
  const like = { domains: [alpha!.domain, beta!.domain] }
  const open1 = await open({ like })
  await fetch(await open1())
  const all = await rowsOf(await open1())
  const scores = all.map(({ row }) => similarityOf('company', row.found)!)
  const least = scores[4]!
  await house.close()
  const some = await open({ like: { ...like, minScore: least } })
  const { list } = await fetch(await some())
  const kept = await rowsOf(await some())
  expect(kept).toHaveLength(scores.filter((score) => score >= least).length)
  expect(list.fetch?.dropped).toEqual({ excluded: 2 + all.length - kept.length })
  await house.close()
  const few = await open({ like, limit: 3 })
  await fetch(await few())
  expect((await rowsOf(await few())).map(({ row }) => row.serviceId)).toEqual(
    all.slice(0, 3).map(({ row }) => row.serviceId),
  )
})

test('references come out of the CRM once, and their records are left out in every spelling', async () => {
  const opened = await open({
    like: { connector: 'hubspot', filter: 'lifecyclestage=customer', top: 2, by: 'annualrevenue' },
  })
  for (const [company, annualrevenue] of [
    [alpha, '900'],
    [beta, '10000'],
    [gamma, '20'],
  ] as const)
    house.add('companies', {
      name: company!.name,
      domain: company!.domain,
      lifecyclestage: 'customer',
      annualrevenue,
    })
  await expect(listCalls(house.context, 'dach', { asks: false })).rejects.toThrow(
    /lists\.dach\.like: .*not read.*lists preview dach --plan/,
  )
  const calls = await opened()
  expect(calls.similar?.references.map(({ name }) => name)).toEqual([beta!.name, alpha!.name])
  await fetch(calls)
  const domains = (await rowsOf(calls)).map(({ row }) => row.values['domain'])
  expect(domains).not.toContain(alpha!.domain)
  expect(domains).not.toContain(beta!.domain)
  expect(domains).toContain(gamma!.domain)
  // A later change in the CRM changes no question before the references are read again.
  house.add('companies', {
    name: 'New',
    domain: 'new.example',
    lifecyclestage: 'customer',
    annualrevenue: '99999',
  })
  expect((await opened()).parts).toHaveLength(2)
  expect((await opened()).similar?.references.map(({ name }) => name)).toEqual([beta!.name, alpha!.name])
  expect(await fetch(await opened())).toMatchObject({ bought: 0 })
})

test('people like a reference have the score of the service', async () => {
  const [ann, bob] = people()
  const opened = await open({
    search: 'people.similar',
    filters: {},
    like: { profiles: [ann!, bob!].map(({ slug }) => `https://www.profnet.com/in/${slug}`), minScore: 0.4 },
    into: { connector: 'hubspot', entity: 'contacts' },
  })
  const calls = await opened()
  await fetch(calls)
  const rows = await rowsOf(calls)
  const scores = rows.map(({ row }) => similarityOf('person', row.found))
  expect(scores.length).toBeGreaterThan(0)
  expect(scores.every((score) => score !== null && score >= 0.4)).toBe(true)
  expect(scores).toEqual([...scores].sort((a, b) => b! - a!))
})

test('nothing is bought for a list whose references cannot be found', async () => {
  const csv = csvDirectory().write('best.csv', 'company,domain\nAcme,gmail.com\n')
  const opened = await open({ like: { csv } })
  await expect(opened()).rejects.toMatchObject({ code: 'no_references' })
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(0)
})

test('the budget ends the questions, and the same command goes on', async () => {
  const opened = await open({ like: { domains: [alpha!.domain, beta!.domain, gamma!.domain] } })
  expect(await fetch(await opened(), { budgetAtomic: 110_000n })).toMatchObject({ end: 'budget', bought: 2 })
  expect(await fetch(await opened())).toMatchObject({ end: 'complete', bought: 1 })
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(3)
})

test('people are found at each company of the search, and know to which they belong', async () => {
  const [out, hidden] = [alpha!, beta!]
  const opened = await open({
    search: 'company.search',
    filters: { domains: [alpha, beta, gamma, ...staffed].map((company) => company!.domain) },
    people: { perCompany: 2 },
    exclude: { domains: [`https://${out.domain}/jobs`] },
    into: { connector: 'hubspot', entity: 'contacts' },
  })
  await house.context.suppressions.add([{ kind: 'domain', value: hidden.domain, isCompany: true }])
  const calls = await opened()
  expect(calls.parts).toEqual([])
  expect(await fetch(calls, { budgetAtomic: 170_000n })).toMatchObject({ end: 'budget', bought: 3 })
  const fetched = await fetch(await opened())
  expect(fetched).toMatchObject({ end: 'complete', bought: 1 })
  const asked = await house.context.database.db
    .selectFrom('lookups')
    .select('request')
    .where('operation', '=', 'people.search')
    .execute()
  // The page of companies counts too.
  expect((await listMonth(house.context, 'dach')).spentAtomic).toBe(40_000n)
  expect(asked.map(({ request }) => request?.['domains']).sort()).toEqual(
    [gamma!, ...staffed].map(({ domain }) => [domain]).sort(),
  )
  const rows = await rowsOf(await opened())
  for (const { row } of rows) {
    expect(row.object).toBe('person')
    expect(row.company?.values['domain']).toBe(row.values['company_domain'])
  }
  const perCompany = Map.groupBy(rows, ({ row }) => row.company?.key)
  expect([...perCompany.values()].map((each) => each.length)).toEqual(staffed.map(() => 2))
  expect(await fetch(await opened())).toMatchObject({ end: 'complete', bought: 0 })
})

test('a company with several market entries is one row', async () => {
  const opened = await open({
    search: 'expansion.search',
    filters: { query: 'companies expanding into Spain' },
    limit: 100,
  })
  const { list } = await fetch(await opened(), { reachableOnly: true })
  const rows = await rowsOf(await opened())
  const ids = rows.map(({ row }) => row.serviceId)
  expect(ids.every((id) => id?.startsWith('ds-'))).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect(rows.every(({ row }) => row.values['company_name'] && row.values['domain'])).toBe(true)
  expect(list.moved).toBe(0)
})

test('a reference that the service refuses does not stop the others, and is named', async () => {
  const [ann, bob] = people()
  const opened = await open({
    search: 'people.similar',
    filters: {},
    like: { ids: ['nobody at all', searchIdOf(ann!.slug), searchIdOf(bob!.slug)] },
    into: { connector: 'hubspot', entity: 'contacts' },
  })
  const calls = await opened()
  const fetched = await fetch(calls)
  expect(fetched).toMatchObject({ end: 'cut', bought: 2 })
  expect(fetched.list.parts.map(({ cut }) => cut?.page)).toEqual([1, undefined, undefined])
  const { document } = await listDocument(house.context, calls, fetched.list)
  expect(listText(document, calls, fetched.list)).toContain('refused     reference 1')
  expect((await rowsOf(calls)).length).toBeGreaterThan(0)
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(2)
})

test('before anything is bought a list says how many questions there are, and their most', async () => {
  const domains = [alpha!.domain, beta!.domain, `https://${alpha!.domain}`, 'gmail.com']
  const calls = await (await open({ like: { domains } }))()
  const list = await readList(house.context, calls)
  const { document } = await listDocument(house.context, calls, list)
  expect(document).toMatchObject({
    total: null,
    references: { count: 2, repeated: 1, skipped: [{ place: 'domains[3]' }] },
    questions: { left: 2, atMostUsd: '0.100000' },
    companies: null,
  })
  const text = listText(document, calls, list)
  expect(text).toContain('references  2, one question each; 1 given once more')
  expect(text).toContain('to ask      2 questions, 0.100000 USD at most')
  expect(text).toContain('skipped     domains[3]: ')
  expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(0)
})

test('no record and no plan holds the score', async () => {
  const calls = await (await open({ like: { domains: [alpha!.domain, beta!.domain] }, limit: 4 }))()
  await fetch(calls)
  await indexRecords(house.context, house.connector, 'companies', { rebuild: true, signal })
  const { creates, first } = await planList(house.context, calls, house.connector, newPlanId(house.context))
  expect(creates).toBe(4)
  const planned = await house.context.database.db.selectFrom('plan_records').select('preview').execute()
  for (const { preview } of planned)
    expect(Object.keys(patchOf((preview as never)['values']))).toEqual(
      expect.arrayContaining(['company_name', 'domain']),
    )
  expect(JSON.stringify([first, planned])).not.toMatch(/score|0\.0[13]/)
})

test('a forgotten reference is erased, and read again out of the CRM', async () => {
  const opened = await open({ like: { connector: 'hubspot', filter: 'lifecyclestage=customer' } })
  house.add('companies', { name: alpha!.name, domain: alpha!.domain, lifecyclestage: 'customer' })
  await opened()
  const { db } = house.context.database
  expect(await db.selectFrom('list_references').selectAll().execute()).toHaveLength(1)
  await forget(house.context, [{ kind: 'domain', value: alpha!.domain, isCompany: true }], {
    suppress: false,
  })
  expect(await db.selectFrom('list_references').selectAll().execute()).toHaveLength(0)
})

test('a forgotten company leaves no name among the questions of a list of people', async () => {
  const [domain = ''] = staffed.map((each) => each.domain)
  const opened = await open({
    search: 'company.search',
    filters: { domains: [domain] },
    people: { perCompany: 1 },
    into: { connector: 'hubspot', entity: 'contacts' },
  })
  await fetch(await opened())
  const { db } = house.context.database
  const kept = async () => JSON.stringify(await db.selectFrom('list_fetches').select('parts').execute())
  expect(await kept()).toContain(domain)
  await forget(house.context, [{ kind: 'domain', value: domain, isCompany: true }], { suppress: false })
  expect(await kept()).not.toContain(domain)
})

test('a level that nobody knows is refused before the companies are bought', async () => {
  const opened = await open({
    search: 'company.search',
    people: { perCompany: 1, levels: ['Emperor'] },
    into: { connector: 'hubspot', entity: 'contacts' },
  })
  await expect(opened()).rejects.toThrow(
    /lists\.dach\.people: .*"Emperor"; service\.vocabularies\.management_levels allows it/,
  )
})
