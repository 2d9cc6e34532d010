import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { encodeAbiParameters, pad, toHex, type Hex } from 'viem'
import { RetriableError } from '../../domain/errors.ts'
import type { Authorization } from '../../domain/payment.ts'
import { createChain } from './chain.ts'
import { basePolicy } from '../limits/spending-policy.ts'

const owner = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const nonce: Hex = `0x${'cd'.repeat(32)}`
const hash: Hex = `0x${'ab'.repeat(32)}`
const authorization = { payer: owner.toLowerCase(), nonce, validBefore: 1000 } as Authorization

interface LogQuery {
  address: string
  topics: (string | null)[]
  fromBlock: Hex
  toBlock: Hex
}
interface Call {
  to: string
  data: Hex
}

/** A node of which the test says what it knows; `asked` keeps what it was asked. */
let node: {
  latest: bigint
  finalAt: number
  used: boolean
  balance: bigint
  logs: (query: LogQuery) => object[]
  timestampOf: (block: bigint) => number
  isAway: boolean
  asked: { method: string; params: unknown[] }[]
}

beforeEach(() => {
  node = {
    latest: 100n,
    finalAt: 1000,
    used: false,
    balance: 7n,
    logs: () => [],
    timestampOf: (block) => Number(block) * 2,
    isAway: false,
    asked: [],
  }
  vi.stubGlobal('fetch', async (_: unknown, { body }: { body: string }) => {
    if (node.isAway) throw new TypeError('fetch failed')
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
    node.asked.push({ method, params })
    try {
      return Response.json({ jsonrpc: '2.0', id, result: answer(method, params) })
    } catch (error) {
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32_602, message: String(error) } })
    }
  })
})
afterEach(() => void vi.unstubAllGlobals())

function answer(method: string, params: unknown[]): unknown {
  if (method === 'eth_chainId') return '0x2105'
  if (method === 'eth_blockNumber') return toHex(node.latest)
  if (method === 'eth_getLogs') return node.logs(params[0] as LogQuery)
  if (method === 'eth_getBlockByNumber') {
    const isTag = params[0] === 'finalized' || params[0] === 'latest'
    const number = isTag ? node.latest : BigInt(params[0] as string)
    const timestamp = params[0] === 'finalized' ? node.finalAt : node.timestampOf(number)
    return { number: toHex(number), hash, timestamp: toHex(timestamp), transactions: [] }
  }
  if (method === 'eth_call') {
    const { data } = params[0] as Call
    return data.startsWith('0x70a08231')
      ? encodeAbiParameters([{ type: 'uint256' }], [node.balance])
      : encodeAbiParameters([{ type: 'bool' }], [node.used])
  }
  throw new Error(`not asked before: ${method}`)
}

const logOf = (change: object) => ({
  address: basePolicy.asset,
  blockHash: hash,
  blockNumber: '0x5',
  data: '0x',
  logIndex: '0x0',
  removed: false,
  topics: [],
  transactionHash: hash,
  transactionIndex: '0x0',
  ...change,
})
const open = () => createChain({ rpcUrl: 'http://node.example/path', asset: basePolicy.asset.toLowerCase() })
const queries = () =>
  node.asked.filter(({ method }) => method === 'eth_getLogs').map(({ params }) => params[0] as LogQuery)

describe('the fate of an authorization', () => {
  test.each([
    [999, 'live'],
    [1000, 'live'],
    [1001, 'dead'],
  ])('that is unused, when the final block is of %i', async (finalAt, kind) => {
    node.finalAt = finalAt
    expect(await open().fate(authorization)).toEqual({ kind })
    // The final block first, and the state at a block that is named: see lagging-node.test.ts.
    expect(node.asked.map(({ method, params }) => [method, params[0]])).toEqual([
      ['eth_getBlockByNumber', 'finalized'],
      ['eth_getBlockByNumber', 'latest'],
      ['eth_call', expect.anything()],
    ])
    const { to, data } = node.asked[2]!.params[0] as Call
    expect(node.asked[2]!.params[1]).toEqual({ blockHash: hash, requireCanonical: true })
    expect(to).toBe(basePolicy.asset)
    expect(data).toBe(`0xe94a0102${pad(owner.toLowerCase() as Hex).slice(2)}${nonce.slice(2)}`)
  })

  test.each([
    [100n, 0n],
    [9_000n, 0n],
    [9_001n, 1n],
  ])(
    'that is used names the transaction, searched for from block %i back to %i',
    async (latest, fromBlock) => {
      Object.assign(node, { used: true, latest, finalAt: 5000 })
      node.logs = () => [logOf({ topics: [`0x${'11'.repeat(32)}`, pad(owner as Hex), nonce] })]
      // viem drops a log whose topic is of another event, so the node repeats the topics that it is asked for.
      node.logs = ({ topics }) => [logOf({ topics })]
      expect(await open().fate(authorization)).toEqual({ kind: 'used', transaction: hash })
      const [query] = queries()
      expect(query).toMatchObject({ address: basePolicy.asset, fromBlock: toHex(fromBlock) })
      expect(query?.topics.slice(1)).toEqual([pad(owner.toLowerCase() as Hex), nonce])
    },
  )

  test('that is used is known without its transaction', async () => {
    node.used = true
    expect(await open().fate(authorization)).toEqual({ kind: 'used', transaction: null })
    node.logs = () => {
      throw new Error('range too large')
    }
    expect(await open().fate(authorization)).toEqual({ kind: 'used', transaction: null })
  })
})

test('the chain tells its id and a balance', async () => {
  expect(await open().chainId()).toBe(8453)
  expect(await open().balanceOf(owner.toLowerCase())).toBe(7n)
  const { to, data } = node.asked.at(-1)!.params[0] as Call
  expect([to, data]).toEqual([basePolicy.asset, `0x70a08231${pad(owner.toLowerCase() as Hex).slice(2)}`])
})

test.each([
  ['chainId', (chain: ReturnType<typeof open>) => chain.chainId()],
  ['balanceOf', (chain: ReturnType<typeof open>) => chain.balanceOf(owner)],
  ['fate', (chain: ReturnType<typeof open>) => chain.fate(authorization)],
  ['blocks', (chain: ReturnType<typeof open>) => chain.blocks()],
  ['blockBefore', (chain: ReturnType<typeof open>) => chain.blockBefore(new Date())],
])('a chain that does not answer %s may be asked again, and its path is not told', async (_, ask) => {
  node.isAway = true
  const asked = ask(open())
  await expect(asked).rejects.toThrow(RetriableError)
  await expect(asked).rejects.toMatchObject({
    code: 'chain_unreachable',
    message:
      "the chain's RPC at http://node.example did not answer; try again later, or set PAYDIRT_RPC_URL to another node",
    cause: expect.anything(),
  })
})
