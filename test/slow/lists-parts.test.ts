import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { fetchList, type FetchOptions } from '../../src/app/lists/pages/fetch-list.ts'
import { changedRows, comparedFetches } from '../../src/app/lists/pages/diff-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { readList } from '../../src/app/lists/pages/read-list.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { allJudged, allRows } from '../support/list-rows.ts'
import { openEdge } from '../support/service-edge.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  sandbox.faults.reset()
  await house.close()
})

interface Given {
  filters?: Record<string, unknown>
  partitions?: Record<string, unknown>[]
  limit?: number
}

const into = { connector: 'hubspot', entity: 'companies' } as const

async function open(list: Given, more: { env?: Record<string, string>; serviceUrl?: string } = {}) {
  const { env, serviceUrl = sandbox.serviceUrl } = more
  const config: FileConfig = {
    payment: { maxPricesUsd: { 'company.search': '0.05' } },
    budgets: { runUsd: '100', dayUsd: '100' },
    lists: {
      it: { search: 'company.search', filters: {}, into, ...list } as never,
    },
  }
  house = await openCrmHouse({ ...sandbox, serviceUrl }, { config, ...(env ? { env: { ...env } } : {}) })
}

const calls = () => listCalls(house.context, 'it', { asks: true })
async function fetch(more: Partial<FetchOptions> = {}) {
  return fetchList(house.context, await calls(), {
    budgetAtomic: 1_000_000_000n,
    reachableOnly: false,
    signal: new AbortController().signal,
    ...more,
  })
}
const bought = () =>
  house.context.database.db
    .selectFrom('charges')
    .select('lookup_key')
    .where('state', '=', 'settled')
    .execute()
    .then((rows) => rows.map((row) => row.lookup_key))

/** In the stand-in 8,412 companies have these filters, and 168 of them those of the short size. */
const wide = isFullSize
  ? {
      industries: [
        'Financial Services',
        'Computer and Network Security',
        'Higher Education',
        'Software Development',
        'Biotechnology Research',
        'Food & Beverage Services',
        'Renewable Energy Power Generation',
      ],
      countries: ['BR', 'PL', 'SE', 'DE', 'US', 'TW', 'KR', 'SG', 'AE', 'FR'],
    }
  : { industries: ['Renewable Energy Power Generation', 'Hospitals and Health Care'], countries: ['DE'] }
const total = sized(8_412, 168)
const reachable = sized(2_500, 50)
const sizes = ['201-500', '2-10', '1,001-5,000', '11-50', '5,001-10,000', '51-200', '501-1,000', '10,001+']
const quarters = [0, 2, 4, 6].map((at) => ({
  sizes: sizes.slice(at, at + 2).map((size) => `${size} employees`),
}))

test(
  'a list above what can be reached is refused before its second page, and complete by four partitions',
  { timeout: 600_000 },
  async () => {
    sandbox.faults.set({ plan: { max_search_page: reachable / 25 } })
    const env = { PAYDIRT_API_KEY: API_KEY, PAYDIRT_API_KEY_HEADER: API_KEY_HEADER }
    await open({ filters: wide }, { env })
    await expect(fetch()).rejects.toThrow(
      `${total} rows are wanted, and the service answers ${reachable / 25} pages of 25: ${total - reachable} rows stay outside`,
    )
    expect(await bought()).toHaveLength(1)

    Object.assign(house.context.config.lists['it']!, { partitions: quarters })
    const { end, list } = await fetch()
    expect(end).toBe('complete')
    expect(list).toMatchObject({ total, rows: total, moved: 0, overlap: 0, isComplete: true })
    const pages = list.parts.map((part) => Math.ceil((part.total ?? 0) / 25))
    expect(list.parts.map((part) => part.pages)).toEqual(pages)
    const paid = await bought()
    expect(paid).toHaveLength(1 + pages.reduce((sum, count) => sum + count, 0))
    expect(new Set(paid).size).toBe(paid.length)
    const rows = await allRows(house.context, await calls())
    expect(new Set(rows.map(({ serviceId }) => serviceId)).size).toBe(total)
    process.stderr.write(
      `${total} rows, ${reachable} reachable: refused; complete by ${list.parts.map((part) => `${part.total} on ${part.pages} pages`).join(', ')}\n`,
    )
  },
)

test('partitions that overlap are counted, an empty one is named, and a row of several is kept once', async () => {
  const [germany, france] = [{ countries: ['DE'] }, { countries: ['DE', 'FR'] }]
  const filters = { industries: ['Hospitals and Health Care'], sizes: ['51-200 employees'] }
  await open({ filters, partitions: [germany, france, { countries: ['Atlantis'] }] })
  const { end, list } = await fetch()
  expect(end).toBe('complete')
  const [first, second, third] = list.parts
  expect(list.overlap).toBe(first?.total)
  expect(list.rows).toBe(second?.total)
  expect(third).toMatchObject({ name: '3 (countries: Atlantis)', total: 0, pages: 1, isEnded: true })
  const both = (await allRows(house.context, await calls())).filter(({ part }) => part === 0)
  expect(both.map(({ found }) => found.map(({ part }) => part))).toEqual(both.map(() => [0, 1]))
})

test('a filter of a partition that is not there is refused with its place, before anything is bought', async () => {
  await open({ partitions: [{ countries: ['DE'] }, { contries: ['FR'] }] })
  await expect(calls()).rejects.toThrow(/lists\.it\.partitions\[1\]: .*contries.*countries/)
  expect(await bought()).toEqual([])
  const lists = (partitions: object[]) => ({
    lists: { it: { search: 'company.search', filters: {}, into, partitions } },
  })
  for (const [partitions, place] of [
    [[], 'partitions'],
    [[{ countries: ['DE'] }, {}], 'partitions.1'],
    [[{ page: 2 }], 'partitions.0.page'],
  ] as const) {
    const { error } = fileSchema.safeParse(lists([...partitions]))
    expect(error?.issues[0]?.path.join('.')).toBe(`lists.it.${place}`)
  }
})

test('a page that the service refuses ends its part as cut, with page and code', async () => {
  const filters = { countries: ['DE'], industries: ['Hospitals and Health Care'] }
  await open({ filters })
  sandbox.faults.set({ searchLimits: { page: 2 } })
  const cut = await fetch()
  expect(cut).toMatchObject({ end: 'cut', bought: 2, list: { rows: 50, isComplete: true } })
  expect(cut.reason).toMatch(/refused page 3 \(41676\).*partitions.*--reachable-only/)
  expect(cut.list.parts[0]?.cut).toEqual({ page: 3, code: '41676' })
  expect(await fetch({ reachableOnly: true })).toMatchObject({
    end: 'complete',
    bought: 0,
    list: { outside: 39 },
  })
  // Page 1 is not paid for again to be told what is known.
  await expect(fetch({ again: true })).rejects.toThrow(/answers 2 pages of 25: 39 rows stay outside/)
  expect(await bought()).toHaveLength(2)
})

test('rows that come twice count once, the report says how many moved, and --again buys anew', async () => {
  const filters = { countries: ['DE'], industries: ['Hospitals and Health Care'], sizes: ['11-50 employees'] }
  // While the second page is bought a row comes in ahead of the others, so that the last of page 1 comes again.
  let isMoving = true
  const edge = await openEdge(sandbox.serviceUrl, ({ path, body }) =>
    path.endsWith('/companies/search') ? { rewrite: (answer) => moved(body, answer) } : undefined,
  )
  const all = Array.from({ length: 60 }, (_, at) => ({
    domain_search_id: `ds-${at}`,
    company_name: `Firm ${at}`,
    domain: `firm-${at}.com`,
  }))
  function moved(body: string, answer: string): string {
    const { page = 1 } = JSON.parse(body) as { page?: number }
    const answered = JSON.parse(answer) as { data: object }
    const rows = isMoving && page > 1 ? [{ ...all[0], domain_search_id: 'ds-late' }, ...all] : all
    const pagination = { page, per_page: 25, total_entries: 60, total_pages: 3 }
    return JSON.stringify({
      ...answered,
      data: { ...answered.data, pagination, companies: rows.slice((page - 1) * 25, Math.min(page * 25, 60)) },
    })
  }
  try {
    await open({ filters }, { serviceUrl: edge.url })
    const first = await fetch()
    expect(first).toMatchObject({ end: 'complete', bought: 3, list: { rows: 59, moved: 1 } })
    expect(first.list.parts[0]).toMatchObject({ repeated: 1, total: 60 })
    expect(await fetch()).toMatchObject({ bought: 0, list: { rows: 59 } })

    isMoving = false
    // Begun, and nothing bought yet: the rows of before are still there.
    expect(await fetch({ again: true, budgetAtomic: 1n })).toMatchObject({ end: 'budget', bought: 0 })
    expect(await readList(house.context, await calls())).toMatchObject({ rows: 59, isComplete: true })
    const again = await fetch({ again: true, budgetAtomic: 100_000n })
    expect(again).toMatchObject({ end: 'budget', bought: 2 })
    // A command that does not say so pays for no page again, and none of them reads earlier pages in.
    expect(await readList(house.context, await calls())).toMatchObject({ pages: 2 })
    const rest = await fetch({ again: true })
    expect(rest).toMatchObject({ end: 'complete', bought: 1, list: { rows: 60, moved: 0 } })
    expect(rest.list.fetch?.id).toBe(again.list.fetch?.id)
    expect(await bought()).toHaveLength(6)

    const compared = (await comparedFetches(house.context, 'it'))!
    expect([compared.now.id, compared.since.id]).toEqual([rest.list.fetch?.id, first.list.fetch?.id])
    const changes = (of: string, without: string) =>
      Array.fromAsync(changedRows(house.context, { of, without })).then((pages) =>
        pages.flat().map(({ serviceId }) => serviceId),
      )
    expect(await changes(compared.now.id, compared.since.id)).toEqual(['ds-59'])
    expect(await changes(compared.since.id, compared.now.id)).toEqual([])

    // Begun anew with --again, and gone on with without it: the other pages are those that the ledger has.
    const third = await fetch({ again: true, budgetAtomic: 50_000n })
    expect(third).toMatchObject({ end: 'budget', bought: 1, list: { pages: 1 } })
    const rested = await fetch()
    expect(rested).toMatchObject({ end: 'complete', bought: 0, list: { rows: 60 } })
    expect(rested.list.fetch?.id).toBe(third.list.fetch?.id)
    expect(await bought()).toHaveLength(7)
  } finally {
    edge.close()
  }
})

test('verdicts do not depend on the size of the batches in which rows are judged', async () => {
  const edge = await openEdge(sandbox.serviceUrl, ({ path }) =>
    path.endsWith('/companies/search') ? { rewrite: shared } : undefined,
  )
  // Every fourth company shares its domain with one before, and every fifth has no profile.
  function shared(answer: string): string {
    const answered = JSON.parse(answer) as { data: { companies: Record<string, unknown>[] } }
    const companies = answered.data.companies.map((row, at) => ({
      ...row,
      domain: at % 4 === 3 ? `shared-${at % 3}.com` : row['domain'],
      profnet_url: at % 5 === 0 ? null : row['profnet_url'],
    }))
    return JSON.stringify({ ...answered, data: { ...answered.data, companies } })
  }
  try {
    await open({ filters: { countries: ['DE'] }, limit: 75 }, { serviceUrl: edge.url })
    await fetch()
    const whole = await allJudged(house.context, await calls())
    expect(new Set(whole.map(({ verdict }) => verdict))).toEqual(new Set(['new', 'ambiguous', 'duplicate']))
    for (const atOnce of [1, 7])
      expect(await allJudged(house.context, await calls(), { atOnce })).toEqual(whole)
  } finally {
    edge.close()
  }
})
