import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hashOf, nonceOf, openLogNode, owner, payee } from './log-node.fixture.ts'
import type { LogPage } from './transfer-log.ts'

let open: ReturnType<typeof openLogNode>
let { node } = openLogNode()
beforeEach(() => {
  open = openLogNode()
  ;({ node } = open)
  vi.stubGlobal('fetch', open.fetch)
})
afterEach(() => void vi.unstubAllGlobals())

async function read(from = 0, to = node.latest) {
  const pages: LogPage[] = []
  for await (const page of open.chain().pages(owner, BigInt(from), { number: BigInt(to) })) pages.push(page)
  return {
    pages,
    transfers: pages.flatMap(({ transfers }) => transfers),
    gone: pages.filter(({ isGone }) => isGone).map(({ through }) => Number(through)),
  }
}

describe('transfers out of a wallet', () => {
  test('are told apart by log and nonce, however many a transaction holds', async () => {
    node.moves = [
      { block: 5, transaction: 'batch', nonce: 'a' },
      { block: 5, transaction: 'batch', nonce: 'b', amount: 7n },
      { block: 5, transaction: 'batch', nonce: null, to: owner },
      { block: 6, transaction: 'plain', nonce: null },
    ]
    const { transfers } = await read()
    const transaction = hashOf('batch')
    expect(transfers).toEqual([
      { transaction, logIndex: 1, blockNumber: 5n, to: payee, amountAtomic: 10_000n, nonce: nonceOf('a') },
      { transaction, logIndex: 3, blockNumber: 5n, to: payee, amountAtomic: 7n, nonce: nonceOf('b') },
      { transaction, logIndex: 4, blockNumber: 5n, to: owner, amountAtomic: 10_000n, nonce: null },
      {
        transaction: hashOf('plain'),
        logIndex: 0,
        blockNumber: 6n,
        to: payee,
        amountAtomic: 10_000n,
        nonce: null,
      },
    ])
  })

  test('of a year of Base take 1,753 queries in 93 requests, each with a question for the last block', async () => {
    node.latest = 15_768_000
    node.moves = [
      { block: 1, transaction: 'first', nonce: 'a' },
      { block: 9_000, transaction: 'second', nonce: 'b' },
      { block: 15_768_000, transaction: 'last', nonce: 'c' },
    ]
    const { transfers, pages } = await read()
    expect(transfers.map(({ nonce }) => nonce)).toEqual(['a', 'b', 'c'].map(nonceOf))
    expect(node.calls.filter((method) => method === 'eth_getLogs')).toHaveLength(1_753)
    expect(node.calls).toHaveLength(1_753 + 93)
    expect(node.requests).toBe(93)
    expect(pages.at(-1)?.through).toBe(15_768_000n)
  })

  test('are all read, each block once, where the node takes narrower ranges only', async () => {
    node.latest = 50_000
    node.widest = 2_000
    node.moves = Array.from({ length: 50 }, (_, at) => ({
      block: at * 1_000,
      transaction: `t${at}`,
      nonce: `n${at}`,
    }))
    const { transfers, gone } = await read()
    expect(transfers.map(({ nonce }) => nonce)).toEqual(node.moves.map(({ nonce }) => nonceOf(nonce!)))
    expect(gone).toEqual([])
    // The width that the node takes is found once.
    expect(node.calls.length).toBeLessThan(50_000 / 1_125 + 30)
  })

  test('are all read where the node takes no batches', async () => {
    node.latest = 100_000
    node.takesBatches = false
    node.moves = [
      { block: 10, transaction: 'a', nonce: 'a' },
      { block: 99_999, transaction: 'b', nonce: 'b' },
    ]
    const { transfers, gone } = await read()
    expect(transfers.map(({ nonce }) => nonce)).toEqual([nonceOf('a'), nonceOf('b')])
    expect(gone).toEqual([])
    expect(node.requests).toBeLessThan(20)
  })

  test.each([
    ['an HTTP error', () => new Response('too large', { status: 413 })],
    ['a list of one error', () => Response.json([{ jsonrpc: '2.0', id: null, error: { code: -32_600 } }])],
  ])('are all read where the node answers a batch with %s', async (_, refuse) => {
    node.latest = 30_000
    node.moves = [{ block: 29_999, transaction: 'a', nonce: 'a' }]
    vi.stubGlobal('fetch', async (url: unknown, init: { body: string }) =>
      init.body.startsWith('[') ? refuse() : open.fetch(url, init),
    )
    expect((await read()).transfers.map(({ nonce }) => nonce)).toEqual([nonceOf('a')])
  })

  test('are not taken from a node that is behind, and are asked for again after a moment', async () => {
    node.moves = [{ block: 990, transaction: 'a', nonce: 'a' }]
    node.logHead = 980
    await expect(read()).rejects.toThrow(/is behind the others: it does not have block 1000/)
    let asked = 0
    vi.stubGlobal('fetch', async (url: unknown, init: { body: string }) => {
      if ((asked += 1) > 1) node.logHead = Infinity
      return open.fetch(url, init)
    })
    expect((await read()).transfers).toHaveLength(1)
    expect(asked).toBe(2)
  })

  test('before the first block whose logs the node still has are unknown, and the rest is read', async () => {
    node.latest = 5_000_000
    node.prunedThrough = 4_321_987
    node.moves = [
      { block: 10, transaction: 'old', nonce: 'old' },
      { block: 4_321_988, transaction: 'first', nonce: 'first' },
    ]
    const { transfers, gone } = await read()
    expect(gone).toEqual([4_321_987])
    expect(transfers.map(({ nonce }) => nonce)).toEqual([nonceOf('first')])
    expect(node.requests).toBeLessThan(60)
  })

  test('are unknown where the node has no logs at all', async () => {
    node.latest = 30_000
    node.prunedThrough = 40_000
    const { transfers, gone } = await read()
    expect([transfers, gone]).toEqual([[], [30_000]])
  })

  test('are not guessed while the node is away', async () => {
    node.isAway = true
    await expect(read()).rejects.toMatchObject({ code: 'chain_unreachable' })
    node.isAway = false
    node.latest = 1_000_000
    node.failLogQuery = 30
    await expect(read()).rejects.toMatchObject({ code: 'chain_unreachable' })
  })
})

test('blocks are the newest and the newest final one, and any other by its number', async () => {
  const { latest, final } = await open.chain().blocks()
  expect([latest.number, final.number]).toEqual([1_000n, 900n])
  expect(latest.at).toEqual(new Date(node.startedAtMs + 2_000_000))
  expect(await open.chain().block(900n)).toEqual(final)
  expect(await open.chain().block(1_001n)).toBeNull()
})

test('used nonces are asked for in batches', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `n${at}`)
  node.used = new Set(names.filter((_, at) => at % 2 === 0).map(nonceOf))
  const { latest } = await open.chain().blocks()
  open.reset()
  const used = await open.chain().usedNonces(owner, names.map(nonceOf), latest)
  expect(used).toEqual(node.used)
  expect(node.requests).toBe(3)
})

// Block n is of second 2n; an hour is taken off for clocks that differ.
test.each([
  [0, 0n],
  [3600, 0n],
  [3601.999, 0n],
  [3602, 1n],
  [3700, 50n],
  [5600, 1_000n],
  [99_999, 1_000n],
])('the last block before second %d is %i', async (seconds, block) => {
  node.startedAtMs = 0
  expect(await open.chain().blockBefore(new Date(seconds * 1000))).toBe(block)
})
