import { afterAll, beforeAll, expect, test } from 'vitest'
import { knownOfAccount } from '../../src/app/service/known-of-account.ts'
import { acceptRename, renamesOf } from '../../src/store/contract/accepted-renames.ts'
import { lastAnswers, noteFields, observations } from '../../src/store/contract/answer-fields.ts'
import { limitsOf, noteLimit } from '../../src/store/contract/known-limits.ts'
import { knownWords, learnWords } from '../../src/store/contract/learned-words.ts'
import { notePrice, seenPrices } from '../../src/store/contract/seen-prices.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import type { Ledger } from '../support/idle-ledgers.ts'

let ledger: Ledger
let db: Database
beforeAll(async () => {
  ledger = await openFreshLedger()
  db = ledger.database.db
})
afterAll(() => ledger?.close())

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 0, 0, seconds))

test('fields are counted by path and type, words and limits are kept once', async () => {
  const rows = { path: 'data.jobs', type: 'array' } as const
  await noteFields(
    db,
    'job.search',
    [
      { ...rows, answers: 2 },
      { path: 'data', type: 'object', answers: 2 },
    ],
    at(1),
  )
  await Promise.all([
    noteFields(db, 'job.search', [{ ...rows, answers: 3 }], at(3)),
    noteFields(db, 'job.search', [{ ...rows, answers: 1 }], at(2)),
  ])
  expect(await observations(db, 'job.search')).toEqual([
    { path: 'data', type: 'object', firstSeen: at(1), lastSeen: at(1), answers: 2 },
    { path: 'data.jobs', type: 'array', firstSeen: at(1), lastSeen: at(3), answers: 6 },
  ])
  expect(await lastAnswers(db)).toEqual(new Map([['job.search', at(3)]]))
  const stage = { vocabulary: 'stages', word: 'Exploring' }
  await learnWords(db, [stage, stage], at(1))
  await learnWords(db, [stage], at(5))
  expect(await knownWords(db)).toEqual([{ ...stage, firstSeen: at(1), lastSeen: at(5) }])
  const limit = {
    operation: 'job.search',
    name: 'per_page',
    value: 25,
    code: '41675',
    seenAt: at(1),
  } as const
  await noteLimit(db, limit)
  await noteLimit(db, { ...limit, value: 50, seenAt: at(2) })
  expect(await limitsOf(db, 'job.search')).toEqual([{ ...limit, value: 50, seenAt: at(2) }])
  expect(await limitsOf(db, 'news.search')).toEqual([])
})

test('the newest price of each currency and the last accepted name are kept', async () => {
  const usd = {
    priceClass: 'POST /x',
    protocol: 'x402',
    currency: 'USD',
    amountAtomic: 10_000n,
    seenAt: at(5),
  } as const
  const credits = { ...usd, currency: 'credit', amountAtomic: 1_000_000n } as const
  for (const price of [usd, credits, { ...usd, amountAtomic: 5_000n, seenAt: at(1) }])
    await notePrice(db, price)
  expect(await seenPrices(db)).toEqual([usd, credits])
  const rename = {
    operation: 'job.search',
    field: 'domains',
    wireName: 'company_domains',
    acceptedAt: at(1),
  } as const
  await acceptRename(db, { ...rename, wireName: 'websites' })
  await acceptRename(db, rename)
  expect(await renamesOf(db, 'job.search')).toEqual([rename])
})

test('a refused page counts as the limit for a day', async () => {
  const seenAt = at(0)
  await noteLimit(db, { operation: 'news.search', name: 'page', value: 2, code: '41676', seenAt })
  const limitsAt = async (hours: number) => {
    const now = () => new Date(seenAt.getTime() + hours * 3_600_000)
    const context = { config: { vocabularies: {}, apiKey: undefined }, database: { db }, now } as never
    return (await knownOfAccount(context, { asks: false })).limits.filter((each) => each.code === '41676')
  }
  expect(await limitsAt(23)).toMatchObject([{ operation: 'news.search', value: 2 }])
  expect((await limitsAt(25)).filter(({ operation }) => operation === 'news.search')).toEqual([])
})
