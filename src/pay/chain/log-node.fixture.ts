import { encodeAbiParameters, keccak256, pad, toBytes, toEventSelector, toHex, type Hex } from 'viem'
import { createChain } from './chain.ts'
import { basePolicy } from '../limits/spending-policy.ts'

// An address of the chain that serves logs as public ones do: limited ranges, batches or none, pruned history, and several
// nodes, of which the one that gets the log queries may be behind the others.

export const owner = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
export const payee = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'

const transferTopic = toEventSelector('Transfer(address,address,uint256)')
const usedTopic = toEventSelector('AuthorizationUsed(address,bytes32)')

interface Move {
  block: number
  transaction: string
  amount?: bigint
  to?: string
  /** Null: a plain transfer, without an authorization. */
  nonce: string | null
}

interface Call {
  id: number
  method: string
  params: unknown[]
}

interface Query {
  topics: [Hex[], Hex]
  fromBlock: Hex
  toBlock: Hex
}

export const nonceOf = (name: string): Hex => keccak256(toBytes(name))
export const hashOf = (name: string): Hex => keccak256(toBytes(`transaction ${name}`))

export function openLogNode() {
  const node = {
    latest: 1_000,
    /** The distance of the final block behind the latest. */
    unfinal: 100,
    /** Blocks come every two seconds. */
    startedAtMs: Date.UTC(2026, 0, 1),
    moves: [] as Move[],
    /** Nonces that the token's state has as used. Undefined: those of the moves. */
    used: undefined as Set<string> | undefined,
    widest: 10_000,
    takesBatches: true,
    /** Logs up to this block are gone: refused, or silently left out. */
    prunedThrough: -1,
    isSilent: false,
    isAway: false,
    /** The newest block of the node that gets the HTTP requests with a log query. */
    logHead: Infinity,
    /** Refuses a range beyond its newest block, as newer nodes do. Others answer with the logs that they have. */
    refusesBeyondHead: false,
    /** A proxy gives each call of a batch to a node of its own: only log queries meet the one that is behind. */
    splitsBatches: false,
    /** Every log query is refused with this error. */
    logError: undefined as { code: number; message: string } | undefined,
    /** Another chain at the same address has other hashes. */
    fork: '',
    /** The n-th next log query, counted from 0, finds the node away. */
    failLogQuery: Infinity,
    requests: 0,
    calls: [] as string[],
    ranges: [] as [number, number][],
  }

  function reset(): void {
    Object.assign(node, { requests: 0, calls: [], ranges: [] })
  }

  function logs({ topics, fromBlock, toBlock }: Query, head: number): object[] {
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    node.ranges.push([from, to])
    if (node.logError) throw new Refusal(node.logError)
    if (node.refusesBeyondHead && to > head) throw new Error('block range extends beyond current head block')
    if (node.failLogQuery-- <= 0) throw new Away()
    if (to - from + 1 > node.widest) throw new Error('query returned more than 10000 results')
    if (!node.isSilent && from <= node.prunedThrough) throw new Error('pruned history unavailable')
    const found: object[] = []
    const indexes = new Map<number, number>()
    const add = (block: number, transaction: string, log: { topics: Hex[]; data: Hex }) => {
      const index = indexes.get(block) ?? 0
      indexes.set(block, index + 1)
      if (
        block < from ||
        block > Math.min(to, head) ||
        block <= node.prunedThrough ||
        !topics[0].includes(log.topics[0]!)
      )
        return
      found.push({
        ...log,
        address: basePolicy.asset,
        blockNumber: toHex(block),
        transactionHash: hashOf(transaction),
        logIndex: toHex(index),
      })
    }
    const wallet = pad(owner.toLowerCase() as Hex)
    for (const { block, transaction, nonce, amount = 10_000n, to: recipient = payee } of node.moves) {
      if (nonce !== null) add(block, transaction, { topics: [usedTopic, wallet, nonceOf(nonce)], data: '0x' })
      add(block, transaction, {
        topics: [transferTopic, wallet, pad(recipient.toLowerCase() as Hex)],
        data: encodeAbiParameters([{ type: 'uint256' }], [amount]),
      })
    }
    // A node does not promise an order.
    return found.toReversed()
  }

  function block(number: number) {
    if (number > node.latest) return null
    return {
      number: toHex(number),
      hash: keccak256(toBytes(`block ${number} ${node.fork}`)),
      timestamp: toHex(Math.floor(node.startedAtMs / 1000) + number * 2),
      transactions: [],
    }
  }

  function answer(method: string, params: unknown[], head: number): unknown {
    node.calls.push(method)
    if (method === 'eth_blockNumber') return toHex(head)
    if (method === 'eth_getLogs') return logs(params[0] as Query, Math.min(node.latest, node.logHead))
    if (method === 'eth_getBlockByNumber') {
      const [tag] = params as [string]
      if (tag === 'finalized') return block(head - node.unfinal)
      const number = tag === 'latest' ? head : Number(tag)
      return number > head ? null : block(number)
    }
    if (method === 'eth_call') {
      const { data } = params[0] as { data: Hex }
      const { blockHash } = params[1] as { blockHash?: Hex }
      if (blockHash !== block(head)?.hash) throw new Error('header not found')
      const nonce = `0x${data.slice(-64)}`
      const used =
        node.used ?? new Set(node.moves.flatMap((move) => (move.nonce ? [nonceOf(move.nonce)] : [])))
      return encodeAbiParameters([{ type: 'bool' }], [used.has(nonce)])
    }
    throw new Error(`unknown method ${method}`)
  }

  function respond({ id, method, params }: Call, head: number): object {
    try {
      return { jsonrpc: '2.0', id, result: answer(method, params, head) }
    } catch (error) {
      if (error instanceof Away) throw error
      if (error instanceof Refusal) return { jsonrpc: '2.0', id, error: error.reply }
      return { jsonrpc: '2.0', id, error: { code: -32_000, message: String(error) } }
    }
  }

  return {
    node,
    reset,
    /** In place of the global fetch. */
    async fetch(_: unknown, { body }: { body: string }): Promise<Response> {
      node.requests += 1
      if (node.isAway) throw new TypeError('fetch failed')
      const isBehind = body.includes('eth_getLogs') && !node.splitsBatches
      const head = isBehind ? Math.min(node.latest, node.logHead) : node.latest
      const asked = JSON.parse(body) as Call | Call[]
      if (!Array.isArray(asked)) return Response.json(respond(asked, head))
      if (!node.takesBatches)
        return Response.json({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32_600, message: 'no batches here' },
        })
      return Response.json(asked.map((call) => respond(call, head)))
    },
    chain: () => createChain({ rpcUrl: 'http://node.example/path', asset: basePolicy.asset, pausesMs: [1] }),
  }
}

class Away extends Error {}

class Refusal extends Error {
  readonly reply: object

  constructor(reply: object) {
    super()
    this.reply = reply
  }
}
