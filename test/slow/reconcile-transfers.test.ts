import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { sql } from 'kysely'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { hashOf, openLogNode, owner } from '../../src/pay/chain/log-node.fixture.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { bookCharges, type NamedCharges } from '../integration/reconcile.fixture.ts'

let database: OpenDatabase
let close: () => Promise<void>
let open: ReturnType<typeof openLogNode>
let { node } = openLogNode()
let now: Date

beforeAll(() => void (now = new Date('2026-01-01T02:00:00Z')))
beforeEach(async () => {
  ;({ database, close } = await openFreshLedger())
  open = openLogNode()
  ;({ node } = open)
  // Two hours of blocks: the first charge is drawn an hour after the first of them.
  node.latest = 3_600
  vi.stubGlobal('fetch', open.fetch)
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await close()
})
afterAll(() => void vi.unstubAllGlobals())

const book = (charges: NamedCharges) => bookCharges(database, now, charges)
const compare = (options: { isFull?: boolean } = {}) =>
  reconcile({ database, chain: open.chain(), config: { policy: basePolicy } } as never, owner, options)
const kinds = ({ differences }: Awaited<ReturnType<typeof compare>>) => differences.map(({ kind }) => kind)

test('several transfers of one transaction each belong to their own charge', async () => {
  const names = ['a', 'b', 'c']
  node.moves = names.map((nonce) => ({ block: 2_000, transaction: 'one', nonce }))
  await book(Object.fromEntries(names.map((name) => [name, { state: 'settled', transaction: 'one' }])))
  expect(await compare()).toMatchObject({
    chain: { transfers: 3, amount: '0.030000' },
    ledger: { charges: 3, settled: '0.030000' },
    difference: '0.000000',
    differences: [],
  })
  node.moves.push({ block: 3_550, transaction: 'two', nonce: 'nobody’s' })
  expect(await compare()).toMatchObject({
    difference: '0.010000',
    differences: [{ kind: 'not_in_ledger', transaction: hashOf('two'), logIndex: 1 }],
  })
})

test('a charge that a server’s false receipt books is missing, whatever transaction it names', async () => {
  node.moves = [{ block: 2_000, transaction: 'real', nonce: 'a' }]
  await book({
    a: { state: 'settled', transaction: 'real' },
    b: { state: 'settled', transaction: 'real' },
    c: { state: 'lost' },
  })
  const result = await compare()
  expect(kinds(result)).toEqual(['not_on_chain', 'not_on_chain'])
  expect(result.difference).toBe('-0.020000')
})

test('no payment under way is a difference: neither one whose doubt has its grace, nor one that can still settle', async () => {
  node.moves = [
    { block: 3_590, transaction: 'doubt', nonce: 'doubt' },
    { block: 3_591, transaction: 'sent', nonce: 'sent' },
  ]
  await book({
    doubt: { state: 'in_doubt' },
    sent: { state: 'sent' },
    soon: { state: 'settled', transaction: 'soon', validBefore: now.getTime() / 1000 + 60 },
  })
  expect(await compare()).toMatchObject({
    difference: '0.000000',
    differences: [],
    moved: { charges: 2, amount: '0.020000' },
    pending: { charges: 1, amount: '0.010000' },
  })
  // Its time is over on the chain, and it never came.
  node.latest += 31
  expect(await compare()).toMatchObject({ difference: '-0.010000', pending: { charges: 0 } })
  // The doubt was resolved.
  await database.db.updateTable('charges').set({ state: 'lost' }).where('state', '=', 'in_doubt').execute()
  expect(await compare()).toMatchObject({ moved: { charges: 1 }, ledger: { lost: '0.010000' } })
})

test('a charge closed as unpaid that the chain moved is named', async () => {
  node.moves = [{ block: 2_000, transaction: 't', nonce: 'closed' }]
  await book({ closed: { state: 'expired' }, other: { state: 'settled' } })
  const [first, second] = (await compare()).differences
  expect(first).toMatchObject({ kind: 'not_on_chain' })
  expect(second).toMatchObject({ kind: 'not_in_ledger', charge: expect.any(String), chain: '0.010000' })
})

test('a second comparison reads what is new alone', async () => {
  // A year of Base, and a payment in each month of it.
  const blocks = 15_768_000
  node.latest = blocks
  node.startedAtMs = now.getTime() - 3_600_000
  const names = Array.from({ length: 12 }, (_, month) => `month ${month}`)
  node.moves = names.map((nonce, month) => ({ block: 1 + month * 1_300_000, transaction: nonce, nonce }))
  await book(Object.fromEntries(names.map((name) => [name, { state: 'settled', transaction: name }])))
  expect(await compare()).toMatchObject({ chain: { transfers: 12 }, differences: [] })
  const [calls, requests] = [node.calls.length, node.requests]
  open.reset()
  node.latest += 43_200
  node.moves.push({ block: blocks + 100, transaction: 'new', nonce: 'new' })
  await book({ new: { state: 'settled', transaction: 'new' } })
  expect(await compare()).toMatchObject({ chain: { transfers: 13 }, differences: [] })
  process.stderr.write(
    `a year: ${calls} calls in ${requests} requests; the day after: ${node.calls.length} in ${node.requests}\n`,
  )
  expect(calls).toBeGreaterThan(1_750)
  expect(requests).toBeLessThan(130)
  // Three calls of them are for the half day before the checkpoint, which is read again.
  expect(node.calls.length).toBeLessThan(17)
  expect(node.requests).toBeLessThan(7)
})

test('a reading that was interrupted goes on where it stopped, and counts nothing twice', async () => {
  node.latest = 1_000_000
  node.startedAtMs = now.getTime() - 3_600_000
  const names = Array.from({ length: 10 }, (_, at) => `n${at}`)
  node.moves = names.map((nonce, at) => ({ block: 1 + at * 99_000, transaction: nonce, nonce }))
  await book(Object.fromEntries(names.map((name) => [name, { state: 'settled', transaction: name }])))
  node.failLogQuery = 50
  await expect(compare()).rejects.toMatchObject({ code: 'chain_unreachable' })
  node.failLogQuery = Infinity
  open.reset()
  expect(await compare()).toMatchObject({ chain: { transfers: 10 }, differences: [] })
  expect(node.ranges[0]![0]).toBeGreaterThan(180_000)
})

test('a transfer of a block that was replaced is not kept', async () => {
  node.moves = [{ block: 3_550, transaction: 'replaced', nonce: 'a' }]
  await book({ a: { state: 'settled', transaction: 'replaced' } })
  expect(await compare()).toMatchObject({ differences: [] })
  node.moves = [{ block: 3_560, transaction: 'again', nonce: 'a' }]
  node.latest += 1_000
  expect(await compare()).toMatchObject({ chain: { transfers: 1, amount: '0.010000' }, differences: [] })
})

test('a node that is behind is an error, and another chain begins anew', async () => {
  node.moves = [{ block: 2_000, transaction: 'a', nonce: 'a' }]
  await book({ a: { state: 'settled', transaction: 'a' } })
  expect(await compare()).toMatchObject({ differences: [] })
  node.latest -= 500
  await expect(compare()).rejects.toMatchObject({ code: 'chain_unreachable' })
  node.latest += 500
  node.fork = 'another'
  node.moves = []
  expect(kinds(await compare())).toEqual(['not_on_chain'])
})

test.each([
  ['refused', false],
  ['silently left out', true],
])('payments whose logs are gone and %s are unknown, not missing', async (_, isSilent) => {
  Object.assign(node, { isSilent, prunedThrough: 2_500, latest: 3_600 })
  node.moves = [
    { block: 2_000, transaction: 'old', nonce: 'old' },
    { block: 3_000, transaction: 'new', nonce: 'new' },
  ]
  await book({
    old: { state: 'settled', transaction: 'old' },
    new: { state: 'settled', transaction: 'new' },
    never: { state: 'settled', transaction: 'never' },
  })
  const expected = {
    chain: { transfers: 1 },
    unknown: { charges: 1, amount: '0.010000' },
    differences: [{ kind: 'not_on_chain', transaction: hashOf('never') }],
    difference: '-0.010000',
    logsGoneThrough: isSilent ? undefined : '2500',
  }
  expect(await compare()).toMatchObject(expected)
  open.reset()
  expect(await compare()).toMatchObject(expected)
  expect(node.calls.filter((method) => method === 'eth_call')).toHaveLength(1)
  // A node that has them makes them known.
  node.prunedThrough = -1
  expect(await compare({ isFull: true })).toMatchObject({ chain: { transfers: 2 }, unknown: { charges: 0 } })
})

test('two comparisons at once read the same and store it once', async () => {
  node.moves = [{ block: 2_000, transaction: 'a', nonce: 'a' }]
  await book({ a: { state: 'settled', transaction: 'a' } })
  for (const result of await Promise.all([compare(), compare(), compare()]))
    expect(result).toMatchObject({ chain: { transfers: 1 }, differences: [] })
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from chain_transfers`.execute(
    database.db,
  )
  expect(rows).toEqual([{ n: 1 }])
})
