import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { encodeAbiParameters, encodeEventTopics, parseAbi, toHex, type Hex } from 'viem'
import type { Authorization } from '../../domain/payment.ts'
import { createChain } from './chain.ts'
import { basePolicy } from '../limits/spending-policy.ts'

// One address with several nodes behind it, of which some are behind the others. A node answers strictly: it refuses a
// block that it does not have, and by a tag it answers for its own newest block.

const payer = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const nonce: Hex = `0x${'cd'.repeat(32)}`
const authorization = { payer, nonce, validBefore: 1_000 } as Authorization
const hashOf = (block: number): Hex => toHex(block, { size: 32 })

/** The newest block of the node that answers each next question; the last one answers all further ones. */
let heads: number[]
/** The block in which the authorization was used. */
let usedIn: number
let asked: string[]

beforeEach(() => {
  asked = []
  usedIn = 990
  vi.stubGlobal('fetch', async (_: unknown, { body }: { body: string }) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
    asked.push(method)
    const head = heads.length > 1 ? heads.shift()! : heads[0]!
    const reply = answer(head, method, params)
    return Response.json({ jsonrpc: '2.0', id, ...reply })
  })
})
afterEach(() => void vi.unstubAllGlobals())

/** A block is as old as its number says, and final two blocks later. */
function answer(head: number, method: string, params: unknown[]): { result: unknown } | { error: object } {
  const unknown = { error: { code: -32_000, message: 'header not found' } }
  switch (method) {
    case 'eth_getBlockByNumber': {
      const number = params[0] === 'finalized' ? head - 2 : head
      return { result: { number: toHex(number), hash: hashOf(number), timestamp: toHex(number) } }
    }
    case 'eth_call': {
      const at = params[1] as string | { blockHash: Hex }
      const block = typeof at === 'string' ? head : Number(at.blockHash)
      if (block > head) return unknown
      return { result: encodeAbiParameters([{ type: 'bool' }], [block >= usedIn]) }
    }
    case 'eth_blockNumber':
      return { result: toHex(head) }
    case 'eth_getLogs':
      return { result: [] }
    default:
      throw new Error(`not asked before: ${method}`)
  }
}

const open = () => createChain({ rpcUrl: 'http://node.example', asset: basePolicy.asset, pausesMs: [1, 1] })
const fate = () => open().fate(authorization)
const behind = {
  name: 'RetriableError',
  code: 'chain_unreachable',
  message: expect.stringContaining('behind'),
}

describe('a used authorization is never called dead', () => {
  test('by a node that is behind the block of the question', async () => {
    heads = [1_100, 1_100, 900]
    await expect(fate()).rejects.toMatchObject(behind)
  })

  test('by nodes that are behind the final block', async () => {
    heads = [1_100, 900]
    await expect(fate()).rejects.toMatchObject(behind)
    // Nothing more is asked, because the answer could not be used.
    expect(asked).toEqual(['eth_getBlockByNumber', 'eth_getBlockByNumber'])
  })

  test('when all nodes are behind: it counts as live', async () => {
    heads = [900]
    expect(await fate()).toEqual({ kind: 'live' })
  })

  test.each([0, 1, 2, 3])('whichever of the questions a stale node answers (%i)', async (place) => {
    heads = [1_100, 1_100, 1_100, 1_100, 1_100]
    heads[place] = 900
    const { kind } = await fate().catch(() => ({ kind: 'error' }))
    expect(kind).not.toBe('dead')
  })
})

test('a node that lags by a moment is asked again', async () => {
  heads = [1_100, 1_100, 1_099, 1_100]
  expect(await fate()).toMatchObject({ kind: 'used' })
  expect(asked.filter((method) => method === 'eth_call')).toHaveLength(2)
})

test('an authorization that is unused in a block after the final one is dead', async () => {
  usedIn = Infinity
  heads = [1_100]
  expect(await fate()).toEqual({ kind: 'dead' })
})

test('the nonces of a transaction are read from its own logs', async () => {
  const abi = parseAbi(['event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)'])
  const other: Hex = `0x${'ee'.repeat(32)}`
  const log = (address: string, authorizer: Hex, used: Hex) => ({
    address,
    topics: encodeEventTopics({ abi, args: { authorizer, nonce: used } }),
    data: '0x',
    blockNumber: '0x1',
    logIndex: '0x0',
    transactionIndex: '0x0',
  })
  const transfer = { ...log(basePolicy.asset, payer, nonce), topics: [`0x${'11'.repeat(32)}`] }
  vi.stubGlobal('fetch', async (_: unknown, { body }: { body: string }) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
    expect([method, params]).toEqual(['eth_getTransactionReceipt', [hashOf(5)]])
    const logs = [
      transfer,
      log(basePolicy.asset, payer, nonce),
      log(basePolicy.asset, payer, other),
      log(basePolicy.asset, '0x00000000000000000000000000000000DeaDBeef', `0x${'99'.repeat(32)}`),
      log('0x00000000000000000000000000000000DeaDBeef', payer, `0x${'88'.repeat(32)}`),
    ]
    const result = { transactionHash: hashOf(5), status: '0x1', logs }
    return Response.json({ jsonrpc: '2.0', id, result })
  })
  expect(await open().noncesUsedIn(payer.toLowerCase(), hashOf(5))).toEqual([nonce, other])
})
