import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { hashOf, openLogNode, owner } from '../../src/pay/chain/log-node.fixture.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { bookCharges, type NamedCharges } from '../integration/reconcile.fixture.ts'

// One address with several nodes behind it: the one that gets the log queries is behind the others.

const now = new Date('2026-01-01T02:00:00Z')
let database: OpenDatabase
let close: () => Promise<void>
let open: ReturnType<typeof openLogNode>
let { node } = openLogNode()

beforeEach(async () => {
  ;({ database, close } = await openFreshLedger())
  open = openLogNode()
  ;({ node } = open)
  // Two hours of blocks, of which the last are as old as the charges. 3,500 is the final one.
  node.latest = 3_600
  node.moves = [
    { block: 2_000, transaction: 'old', nonce: 'old' },
    { block: 3_000, transaction: 'closed', nonce: 'closed' },
  ]
  vi.stubGlobal('fetch', open.fetch)
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await close()
})

const book = (charges: NamedCharges) => bookCharges(database, now, charges)
const compare = (options: { isFull?: boolean } = {}) =>
  reconcile({ database, chain: open.chain(), config: { policy: basePolicy } } as never, owner, options)
const checkpoint = () => database.db.selectFrom('chain_checkpoints').selectAll().executeTakeFirst()

const unreachable = { name: 'RetriableError', code: 'chain_unreachable' }
const twoCharges: NamedCharges = {
  old: { state: 'settled', transaction: 'old' },
  closed: { state: 'expired' },
}
const closedMoved = {
  differences: [{ kind: 'not_in_ledger', transaction: hashOf('closed'), charge: expect.any(String) }],
}

describe('a node that is behind the final block', () => {
  beforeEach(() => void (node.logHead = 2_500))

  test.each([
    ['answers with the logs that it has', false],
    ['refuses the range', true],
  ])('and %s is an error: no checkpoint passes what was not read', async (_, refusesBeyondHead) => {
    node.refusesBeyondHead = refusesBeyondHead
    await book(twoCharges)
    await expect(compare()).rejects.toMatchObject(unreachable)
    await expect(compare()).rejects.toThrow(/is behind the others: it does not have block 3500/)
    expect(await checkpoint()).toBeUndefined()
    node.logHead = Infinity
    node.latest += 1_000
    expect(await compare()).toMatchObject({ ...closedMoved, logsGoneThrough: undefined })
  })

  test.each([
    ['that takes one call a request', { takesBatches: false }],
    ['behind a proxy that splits batches', { splitsBatches: true }],
  ])('%s cannot be noticed, and the next comparison reads its blocks again', async (_, change) => {
    Object.assign(node, change)
    await book(twoCharges)
    expect(await compare()).toMatchObject({ differences: [] })
    node.logHead = Infinity
    node.latest += 1_000
    expect(await compare()).toMatchObject({ ...closedMoved, chain: { transfers: 2 } })
  })

  test('leaves no payment counted twice when its log comes', async () => {
    node.splitsBatches = true
    await book({ old: { state: 'settled' }, closed: { state: 'settled' } })
    expect(await compare()).toMatchObject({ chain: { transfers: 1 }, unknown: { charges: 1 } })
    node.logHead = Infinity
    expect(await compare()).toMatchObject({
      chain: { transfers: 2 },
      unknown: { charges: 0 },
      differences: [],
    })
  })
})

test('a node whose final block is another one is not believed', async () => {
  await book(twoCharges)
  const honest = open.fetch
  vi.stubGlobal('fetch', async (url: unknown, init: { body: string }) => {
    node.fork = init.body.includes('eth_getLogs') ? 'another' : ''
    return honest(url, init)
  })
  await expect(compare()).rejects.toMatchObject(unreachable)
  expect(await checkpoint()).toBeUndefined()
})

test.each([
  { code: 429, message: 'Your app has exceeded its compute units' },
  { code: -32_005, message: 'Too Many Requests' },
  { code: -32_007, message: '50/second request limit reached' },
])('a node that asks for fewer requests says nothing about its logs: $message', async (logError) => {
  node.logError = logError
  await book(twoCharges)
  await expect(compare()).rejects.toMatchObject(unreachable)
  node.takesBatches = false
  await expect(compare()).rejects.toMatchObject(unreachable)
  expect(await checkpoint()).toBeUndefined()
})

describe('every checkpoint names its block by hash', () => {
  test('also when no block of the first charge is final yet', async () => {
    node.unfinal = 3_500
    await book(twoCharges)
    await compare()
    expect(await checkpoint()).toMatchObject({ block: 100n, block_hash: expect.any(String) })
    node.fork = 'another'
    node.moves = []
    expect((await compare()).differences).toMatchObject([{ kind: 'not_on_chain' }])
  })

  test.each([true, false])('also after an interrupted reading (batches: %s)', async (takesBatches) => {
    node.takesBatches = takesBatches
    node.latest = 1_000_000
    node.startedAtMs = now.getTime() - 3_600_000
    await book(twoCharges)
    node.failLogQuery = 50
    await expect(compare()).rejects.toMatchObject(unreachable)
    const { block, block_hash: hash } = (await checkpoint())!
    expect(hash).toBe((await open.chain().block(block))!.hash)
  })

  test('and one of an older version without a hash is read again from the beginning', async () => {
    await book(twoCharges)
    expect(await compare()).toMatchObject(closedMoved)
    await database.db.updateTable('chain_checkpoints').set({ block_hash: null }).execute()
    node.fork = 'another'
    node.moves = []
    expect((await compare()).differences).toMatchObject([{ kind: 'not_on_chain' }])
  })
})

test('blocks before the first charge are not read, although the blocks before a checkpoint are', async () => {
  node.moves.push({ block: 1_700, transaction: 'of another ledger', nonce: 'other' })
  await book({ ...twoCharges, closed: { state: 'settled' } })
  for (let time = 0; time < 2; time += 1) {
    expect(await compare()).toMatchObject({ chain: { transfers: 2 }, differences: [] })
    node.latest += 100
  }
})
