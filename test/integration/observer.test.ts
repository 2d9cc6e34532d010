import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createObserver } from '../../src/app/context/observer.ts'
import { contractDrift } from '../../src/app/service/contract-drift.ts'
import type { PaidRequest } from '../../src/pay/purchase.ts'
import { createCatalogue } from '../../src/service/catalogue/catalogue.ts'
import { observations } from '../../src/store/contract/answer-fields.ts'
import { knownWords } from '../../src/store/contract/learned-words.ts'
import { stopOperation } from '../../src/store/contract/operation-states.ts'
import { seenPrices } from '../../src/store/contract/seen-prices.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import type { Ledger } from '../support/idle-ledgers.ts'

let ledger: Ledger
let statements: string[] = []
beforeAll(
  async () =>
    void (ledger = await openFreshLedger({ onQuery: ({ query }) => void statements.push(query.sql) })),
)
afterAll(() => ledger?.close())

let clockMs = Date.UTC(2026, 10, 1)
const now = () => new Date(clockMs)
afterEach(() => void (clockMs += 8 * 86_400_000))

const catalogue = createCatalogue()
const open = () =>
  createObserver({
    db: ledger.database.db,
    catalogue,
    now,
    everyMs: 3_600_000,
    onError: (error) => {
      throw error
    },
  })
const endpoint = 'POST https://service.example/jobs/search'
const request = { operation: 'job.search', endpoint } as PaidRequest
const page = (change: object = {}, cost = 2) =>
  JSON.stringify({
    data: {
      jobs: [{ job_search_id: '1', functions: ['Sales'], seniority_rank: 'Senior' }],
      pagination: { page: 1, per_page: 25, total_entries: 1 },
      ...change,
    },
    metadata: { profile: { credit: 5, topup_credit: 0, total_credit_cost: cost } },
  })
const drift = () => contractDrift({ database: ledger.database, config: { catalogue } as never, now })

test('answers are counted together: one statement for their fields, one for new words, one for a new price', async () => {
  const observer = open()
  for (let answer = 0; answer < 100; answer++) observer.answer(request, page(), 'api_key')
  statements = []
  await observer.flush()
  expect(statements.map((text) => /insert into "?(\w+)/.exec(text)?.[1])).toEqual([
    'answer_fields',
    'learned_words',
    'seen_prices',
  ])
  const seen = await observations(ledger.database.db, 'job.search')
  expect(seen.map(({ path, answers }) => [path, answers])).toContainEqual([
    'data.pagination.total_entries',
    100,
  ])
  expect(new Set(seen.map(({ answers }) => answers))).toEqual(new Set([100]))
  expect(await knownWords(ledger.database.db)).toMatchObject([
    { vocabulary: 'job_functions', word: 'Sales' },
    { vocabulary: 'seniority_ranks', word: 'Senior' },
  ])
  expect(await seenPrices(ledger.database.db)).toMatchObject([
    { priceClass: endpoint, protocol: 'api_key', currency: 'credit', amountAtomic: 2_000_000n },
  ])
  // The same again is a count, and nothing more.
  observer.answer(request, page(), 'api_key')
  statements = []
  await observer.close()
  expect(statements.map((text) => /insert into "?(\w+)/.exec(text)?.[1])).toEqual(['answer_fields'])
  const [first] = await observations(ledger.database.db, 'job.search')
  expect(first?.answers).toBe(101)
})

test('an answer to a batch counts where it has the form of one record, and tells no price', async () => {
  const { db } = ledger.database
  const started = (body: string) => {
    const { data } = JSON.parse(body) as { data: { query_id?: string } }
    return data.query_id === undefined
      ? undefined
      : { queryId: data.query_id, isCompleted: false, estimatedMs: undefined }
  }
  const batch = {
    operation: 'contact.redeem',
    endpoint: 'POST https://service.example/redeem/people/batch',
    parts: () => new Map(),
    started,
  } as unknown as PaidRequest
  const people = JSON.stringify({
    data: { peoples: [{ people_search_id: '1', emails: ['ann@acme.example'], phones: null }] },
    metadata: { profile: { total_credit_cost: 40 } },
  })
  const observer = open()
  observer.answer(batch, JSON.stringify({ data: { query_id: 'q1' } }), 'api_key')
  observer.answer(batch, JSON.stringify({ data: { others: [] } }), 'api_key')
  observer.answer(batch, '<html>', 'api_key')
  await observer.flush()
  expect(await observations(db, 'contact.redeem')).toEqual([])

  observer.answer(batch, people, 'api_key')
  observer.batch('contact.redeem', people)
  observer.batch('contact.redeem', '<html>')
  await observer.close()
  const seen = await observations(db, 'contact.redeem')
  expect(seen.map(({ path, answers }) => [path, answers])).toContainEqual(['data.peoples[].emails', 2])
  expect((await seenPrices(db)).filter(({ priceClass }) => priceClass === batch.endpoint)).toEqual([])
  expect(JSON.stringify(seen)).not.toContain('ann@')
})

test('the last price of each currency is kept: that of a challenge in USD, that of an answer in credits, none for nothing found', async () => {
  const observer = open()
  const priceClass = 'POST https://service.example/people/search'
  const people = { operation: 'people.search', endpoint: priceClass } as PaidRequest
  observer.price(priceClass, { protocol: 'x402', amountAtomic: 10_000n })
  observer.price(priceClass, { protocol: 'x402', amountAtomic: 30_000n })
  observer.answer(people, page({}, 3), 'api_key')
  observer.answer(people, page({}, 0), 'api_key')
  // An answer that was paid on the chain names credits that were not paid.
  observer.answer(people, page({}, 7), 'x402')
  observer.answer({ ...people, parts: () => new Map() }, page({}, 50), 'api_key')
  await observer.close()
  const told = (await seenPrices(ledger.database.db)).filter((each) => each.priceClass === priceClass)
  expect(told.map(({ currency, amountAtomic }) => [currency, amountAtomic])).toEqual([
    ['credit', 3_000_000n],
    ['USD', 30_000n],
  ])
})

test('an answer that is no JSON, and one of anything, harms nothing', async () => {
  const observer = open()
  const news = { ...request, operation: 'news.search' as const }
  for (const body of ['', '<html>', 'null', '7', '{"data":', '[[[[]]]]']) observer.answer(news, body, 'x402')
  await observer.close()
  const seen = await observations(ledger.database.db, 'news.search')
  expect(seen.map(({ path, type }) => `${path} ${type}`)).toEqual([
    ' array',
    ' null',
    ' number',
    '[] array',
    '[][] array',
    '[][][] array',
  ])
})

test('a needed field that is gone and one of another type are drift, until answers or settings say otherwise', async () => {
  expect(await drift()).toEqual([])
  const observer = open()
  observer.answer(request, page({ pagination: { page: 1, per_page: 25, total: 1 } }), 'x402')
  await observer.flush()
  expect(await drift()).toEqual([
    { operation: 'job.search', problem: 'data.pagination.total_entries: answers are without it' },
  ])
  const mended = createCatalogue({ 'job.search': { fields: { total: 'data.pagination.total' } } })
  expect(
    await contractDrift({ database: ledger.database, config: { catalogue: mended } as never, now }),
  ).toEqual([])
  clockMs += 1_000
  observer.answer(request, page({ jobs: { '1': {} } }), 'x402')
  await observer.flush()
  expect(await drift()).toMatchObject([
    { operation: 'job.search', problem: expect.stringContaining('data.jobs: its type is object') },
  ])
  clockMs += 1_000
  observer.answer(request, page(), 'x402')
  await observer.close()
  expect(await drift()).toEqual([])
  // No answer of the last week: nothing is known of the service of today.
  clockMs += 8 * 86_400_000
  expect(await drift()).toEqual([])
})

test('a stopped operation is told with its reason', async () => {
  const place = {
    operation: 'cloud.search',
    part: '',
    place: 'POST https://service.example/clouds/search',
  } as const
  await stopOperation(
    ledger.database.db,
    place,
    { code: 'unreadable', reason: 'cloud.search is stopped: x' },
    now(),
  )
  expect(await drift()).toEqual([{ operation: 'cloud.search', problem: 'cloud.search is stopped: x' }])
})
