import {
  createPublicClient,
  getAddress,
  http,
  pad,
  parseAbi,
  toEventSelector,
  toHex,
  type Hash,
  type Hex,
} from 'viem'
import type { Atomic } from '../../domain/money.ts'
import { createLogReader, type BlockRange, type RawLog } from './log-reader.ts'
import { nodeBehind } from './node-behind.ts'

/** One transfer of the token out of a wallet, as the chain logged it. */
export interface Transfer {
  transaction: string
  /** Position in its block: it tells several transfers of one transaction apart. */
  logIndex: number
  blockNumber: bigint
  to: string
  amountAtomic: Atomic
  /** The nonce of the authorization that moved it (EIP-3009); null for a transfer of another kind. */
  nonce: string | null
}

export interface Block {
  number: bigint
  hash: string
  at: Date
}

/** The transfers in a range of blocks, read from the chain's logs. `isGone`: the node no longer has these logs, so they say nothing. */
export interface LogPage {
  through: bigint
  /** The hash of the block `through`. */
  hash: string
  transfers: Transfer[]
  isGone: boolean
}

export interface TransferLog {
  /** Returns the newest block and the newest final one. A block after the final one may still be replaced. */
  blocks(): Promise<{ latest: Block; final: Block }>
  /** Returns a block, or null when the node does not know it. */
  block(number: bigint): Promise<Block | null>
  /** Returns the last block before a time, less an hour to allow for clocks that differ. */
  blockBefore(time: Date): Promise<bigint>
  /**
   * Yields the transfers out of a wallet, oldest first. A caller that keeps each page can stop at any of them and go on
   * later. Throws when the node that answers does not have the blocks that it is asked about.
   */
  pages(owner: string, from: bigint, to: LastBlock): AsyncGenerator<LogPage>
  /** Returns those of the nonces that the token has recorded as used at a block. Tokens keep this when logs are gone. */
  usedNonces(owner: string, nonces: readonly string[], block: Pick<Block, 'hash'>): Promise<Set<string>>
}

/** The block up to which logs are read. Without its hash, any block of that number counts. */
type LastBlock = Pick<Block, 'number'> & Partial<Pick<Block, 'hash'>>

/** Public nodes answer a log query for about ten thousand blocks at most. */
const widestRange = 9_000n
/** Calls in one HTTP request. Public nodes limit the size of such a batch. */
const batchSize = 20
/** One call of a request asks for the last block. */
const rangesAtOnce = batchSize - 1

const transferTopic = toEventSelector('Transfer(address,address,uint256)')
const usedTopic = toEventSelector('AuthorizationUsed(address,bytes32)')
const token = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])

/** Reads the token's logs. Errors are viem's own: `createChain` turns them into ours. */
export function createTransferLog(options: {
  rpcUrl: string
  asset: string
  timeoutMs: number
  pausesMs: readonly number[]
}): TransferLog {
  const { rpcUrl, timeoutMs: timeout } = options
  const address = getAddress(options.asset)
  const single = createPublicClient({ transport: http(rpcUrl, { timeout, retryCount: 1 }) })
  const batching = createPublicClient({
    transport: http(rpcUrl, { timeout, retryCount: 1, batch: { batchSize } }),
  })

  async function block(number: bigint): Promise<Block | null> {
    const found = await single.request({ method: 'eth_getBlockByNumber', params: [toHex(number), false] })
    return found?.hash ? blockOf({ number, hash: found.hash, timestamp: BigInt(found.timestamp) }) : null
  }

  async function* pages(owner: string, from: bigint, to: LastBlock): AsyncGenerator<LogPage> {
    const topics: [Hex[], Hex] = [[transferTopic, usedTopic], pad(owner.toLowerCase() as Hex)]
    const reader = createLogReader({ ...options, filter: { address, topics }, end: to })
    let width = widestRange
    let most = rangesAtOnce
    for (let start = from; start <= to.number;) {
      const ranges = rangesOf(start, to.number, width, most)
      const page = await wholePage(ranges)
      if (page) {
        yield page
        start = page.through + 1n
      }
      const refused = ranges.find(([first]) => first === start)
      if (!refused) continue
      // The node may not take as many ranges at once, this width, or these blocks: find out with one range.
      const [first, last] = refused
      const narrow = await halved(first, last)
      if (narrow?.through === last) most = 1
      else if (narrow) width = narrow.through - first + 1n
      const next = narrow ?? (await gonePage(first + 1n, to.number))
      yield next
      start = next.through + 1n
    }

    /** Reads the ranges before the first that the node refuses. Returns undefined when it refuses the first of them. */
    async function wholePage(ranges: readonly BlockRange[]): Promise<LogPage | undefined> {
      const { logs, hash } = await reader.read(ranges)
      if (logs.length === 0) return undefined
      const through = ranges[logs.length - 1]![1]
      return {
        through,
        hash: hash ?? (await hashAt(through)),
        transfers: transfersIn(logs.flat()),
        isGone: false,
      }
    }

    /** Reads one range, in halves where the node refuses it. Returns undefined when it refuses even a single block. */
    async function halved(first: bigint, widest: bigint): Promise<LogPage | undefined> {
      for (let last = widest; ; last = first + (last - first) / 2n) {
        const page = await wholePage([[first, last]])
        if (page || last === first) return page
      }
    }

    /** Finds the first block whose logs the node still has; pruned logs are always those at the beginning. */
    async function gonePage(first: bigint, last: bigint): Promise<LogPage> {
      let [low, high] = [first, last + 1n]
      while (low < high) {
        const middle = (low + high) / 2n
        if (await halved(middle, middle)) high = middle
        else low = middle + 1n
      }
      return { through: low - 1n, hash: await hashAt(low - 1n), transfers: [], isGone: true }
    }
  }

  async function hashAt(number: bigint): Promise<string> {
    const found = await block(number)
    if (!found) throw nodeBehind(rpcUrl, `it does not have block ${number}`)
    return found.hash
  }

  return {
    async blocks() {
      const [final, latest] = [
        await single.getBlock({ blockTag: 'finalized' }),
        await single.getBlock({ blockTag: 'latest' }),
      ]
      return { latest: blockOf(latest), final: blockOf(final.number < latest.number ? final : latest) }
    },

    block,

    async blockBefore(time) {
      const wanted = BigInt(Math.floor(time.getTime() / 1000) - 3600)
      let low = 0n
      let high = await single.getBlockNumber()
      while (low < high) {
        const middle = (low + high + 1n) / 2n
        const block = await single.getBlock({ blockNumber: middle })
        if (block.timestamp <= wanted) low = middle
        else high = middle - 1n
      }
      return low
    },

    pages,

    async usedNonces(owner, nonces, { hash }) {
      const used = new Set<string>()
      for (let at = 0; at < nonces.length; at += batchSize) {
        const some = nonces.slice(at, at + batchSize)
        const states = await Promise.all(
          some.map((nonce) =>
            batching.readContract({
              address,
              abi: token,
              functionName: 'authorizationState',
              args: [getAddress(owner), nonce as Hex],
              blockHash: hash as Hash,
              requireCanonical: true,
            }),
          ),
        )
        for (const [index, nonce] of some.entries()) if (states[index]) used.add(nonce)
      }
      return used
    },
  }
}

function rangesOf(start: bigint, to: bigint, width: bigint, most: number): BlockRange[] {
  const ranges: BlockRange[] = []
  for (let first = start; first <= to && ranges.length < most; first += width) {
    const last = first + width - 1n
    ranges.push([first, last < to ? last : to])
  }
  return ranges
}

/**
 * The token logs `AuthorizationUsed` immediately before the transfer that the authorization makes, so a transfer's nonce is
 * the one logged last before it in the same transaction.
 */
function transfersIn(raw: readonly RawLog[]): Transfer[] {
  const byOrder = raw
    .map((log) => ({ ...log, block: BigInt(log.blockNumber), index: Number(log.logIndex) }))
    .toSorted((a, b) => (a.block === b.block ? a.index - b.index : a.block < b.block ? -1 : 1))
  const transfers: Transfer[] = []
  let used: { transaction: string; nonce: string } | undefined
  for (const { topics, data, transactionHash, block, index } of byOrder) {
    const transaction = transactionHash.toLowerCase()
    if (topics[0] === usedTopic) {
      used = { transaction, nonce: topics[2]!.toLowerCase() }
      continue
    }
    if (topics[0] !== transferTopic) continue
    transfers.push({
      transaction,
      logIndex: index,
      blockNumber: block,
      to: getAddress(`0x${topics[2]!.slice(-40)}`),
      amountAtomic: BigInt(data),
      nonce: used?.transaction === transaction ? used.nonce : null,
    })
    used = undefined
  }
  return transfers
}

function blockOf({ number, hash, timestamp }: { number: bigint; hash: string; timestamp: bigint }): Block {
  return { number, hash, at: new Date(Number(timestamp) * 1000) }
}
