import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { enforceRetention } from '../../src/app/upkeep/retention.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { allRows } from '../support/list-rows.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).filter(
  (name) => personAnswer(`https://www.profnet.com/in/${name}`).data !== null,
)

test('answers older than the retention are erased, and the next run buys them anew and no others', async () => {
  let ahead = 0
  house = await openCrmHouse(sandbox, {
    config: { retention: { answersDays: 10 } },
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
  for (const name of known.slice(0, 2))
    house.add('contacts', { lastname: name, profnet_url: `https://www.profnet.com/in/${name}` })
  await house.sync('contacts')
  expect(await enforceRetention(house.context)).toBe(0)
  ahead = 11 * 86_400_000
  expect(await enforceRetention(house.context)).toBe(2)
  const answers = await house.context.database.db
    .selectFrom('lookups')
    .select(['answer', 'outcome'])
    .execute()
  expect(answers).toEqual([
    { answer: null, outcome: 'found' },
    { answer: null, outcome: 'found' },
  ])
  // One more record of the same person: the others have everything, and nothing is bought for them.
  const [seen] = [...house.seen('contacts').values()]
  house.add('contacts', { profnet_url: seen?.['profnet_url'] ?? '' })
  const { summary } = await house.sync('contacts', (inner) => inner, {
    since: new Date(Date.now() - 60_000),
  })
  expect(summary.lookups.paid).toBe(summary.lookups.unique)
  expect(await house.transfers()).toHaveLength(2 + summary.lookups.paid)
  expect(summary.lookups.paid).toBeGreaterThan(0)
})

test('the rows of lists go with their pages, and such a fetch goes on no more', async () => {
  let ahead = 0
  house = await openCrmHouse(sandbox, {
    config: {
      retention: { answersDays: 10 },
      payment: { maxPricesUsd: { 'company.search': '0.05' } },
      lists: {
        german: {
          search: 'company.search',
          filters: { countries: ['DE'] },
          into: { connector: 'hubspot', entity: 'companies' },
          limit: 25,
        },
      },
    },
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
  const { context } = house
  const calls = await listCalls(context, 'german', { asks: false })
  const signal = new AbortController().signal
  const fetch = () => fetchList(context, calls, { budgetAtomic: 50_000n, reachableOnly: false, signal })
  const first = await fetch()
  expect(await allRows(context, calls)).toHaveLength(25)
  ahead = 11 * 86_400_000
  // The page, and its rows.
  expect(await enforceRetention(context)).toBe(1 + 25)
  const [{ domain, profnet_url: profile } = {}] = (await allRows(context, calls)).map(({ values }) => values)
  expect([domain, profile]).toEqual([undefined, undefined])
  expect(await context.database.db.selectFrom('list_row_identities').selectAll().execute()).toEqual([])
  const second = await fetch()
  expect(second).toMatchObject({ end: 'complete', bought: 1, list: { rows: 25 } })
  expect(second.list.fetch?.id).not.toBe(first.list.fetch?.id)
})
