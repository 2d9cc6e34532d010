import { createPublicClient, getAddress, http, pad, parseAbi, toEventSelector, toHex, type Hex } from 'viem'
import type { Atomic } from '../domain/money.ts'

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
  transfers: Transfer[]
  isGone: boolean
}

export interface TransferLog {
  /** Returns the newest block and the newest final one. A block after the final one may still be replaced. */
  blocks(): Promise<{ latest: Block; final: Block }>
  /** Returns the hash of a block, or null when the node does not know it. */
  hashOf(block: bigint): Promise<string | null>
  /** Returns the last block before a time, less an hour to allow for clocks that differ. */
  blockBefore(time: Date): Promise<bigint>
  /** Yields the transfers out of a wallet, oldest first. A caller that keeps each page can stop at any of them and go on later. */
  pages(owner: string, from: bigint, to: bigint): AsyncGenerator<LogPage>
  /** Returns those of the nonces that the token has recorded as used at a block. Tokens keep this when logs are gone. */
  usedNonces(owner: string, nonces: readonly string[], block: bigint): Promise<Set<string>>
}

/** Public nodes answer a log query for about ten thousand blocks at most. */
const widestRange = 9_000n
/** Queries in one HTTP request. Public nodes limit the size of such a batch. */
const batchSize = 20

const transferTopic = toEventSelector('Transfer(address,address,uint256)')
const usedTopic = toEventSelector('AuthorizationUsed(address,bytes32)')
const token = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])

interface RawLog {
  topics: Hex[]
  data: Hex
  transactionHash: Hex
  logIndex: Hex
  blockNumber: Hex
}

/** Reads the token's logs. Errors are viem's own: `createChain` turns them into ours. */
export function createTransferLog(options: {
  rpcUrl: string
  asset: string
  timeoutMs: number
}): TransferLog {
  const { rpcUrl, timeoutMs: timeout } = options
  const address = getAddress(options.asset)
  const single = createPublicClient({ transport: http(rpcUrl, { timeout, retryCount: 1 }) })
  const batching = createPublicClient({
    transport: http(rpcUrl, { timeout, retryCount: 1, batch: { batchSize } }),
  })
  type Client = typeof single

  async function logs(client: Client, owner: string, from: bigint, to: bigint): Promise<Transfer[]> {
    const topics = [[transferTopic, usedTopic], pad(owner.toLowerCase() as Hex)] as [Hex[], Hex]
    const params = [{ address, topics, fromBlock: toHex(from), toBlock: toHex(to) }] as const
    const raw = await client.request({ method: 'eth_getLogs', params: params as never })
    return transfersIn(raw as RawLog[])
  }

  /** Reads one range, in halves where the node refuses it. Returns undefined when it refuses even a single block. */
  async function halved(owner: string, from: bigint, to: bigint): Promise<LogPage | undefined> {
    for (let last = to; ; last = from + (last - from) / 2n) {
      try {
        return { through: last, transfers: await logs(single, owner, from, last), isGone: false }
      } catch (error) {
        if (!isRefusal(error)) throw error
        if (last === from) return undefined
      }
    }
  }

  /** Finds the first block whose logs the node still has; pruned logs are always those at the beginning. */
  async function firstKept(owner: string, from: bigint, to: bigint): Promise<bigint> {
    let [low, high] = [from, to + 1n]
    while (low < high) {
      const middle = (low + high) / 2n
      if (await halved(owner, middle, middle)) high = middle
      else low = middle + 1n
    }
    return low
  }

  async function* pages(owner: string, from: bigint, to: bigint): AsyncGenerator<LogPage> {
    let width = widestRange
    let isBatched = true
    for (let start = from; start <= to;) {
      const ranges = rangesOf(start, to, width, isBatched ? batchSize : 1)
      const read = ranges.map(([first, last]) => logs(isBatched ? batching : single, owner, first, last))
      const settled = await Promise.allSettled(read)
      const failed = settled.findIndex(({ status }) => status === 'rejected')
      const whole = failed < 0 ? ranges.length : failed
      if (whole > 0) {
        const transfers = settled.flatMap((each, index) =>
          each.status === 'fulfilled' && index < whole ? each.value : [],
        )
        const through = ranges[whole - 1]![1]
        yield { through, transfers, isGone: false }
        start = through + 1n
      }
      if (failed < 0) continue
      // The node may not take batches, this width, or these blocks: find out with one range, and go on with what it takes.
      const [first, last] = ranges[failed]!
      const page = await halved(owner, first, last)
      if (page) {
        if (page.through === last) isBatched = false
        else width = page.through - first + 1n
        yield page
        start = page.through + 1n
      } else {
        const kept = await firstKept(owner, first + 1n, to)
        yield { through: kept - 1n, transfers: [], isGone: true }
        start = kept
      }
    }
  }

  return {
    async blocks() {
      const [final, latest] = [
        await single.getBlock({ blockTag: 'finalized' }),
        await single.getBlock({ blockTag: 'latest' }),
      ]
      return { latest: blockOf(latest), final: blockOf(final.number < latest.number ? final : latest) }
    },

    async hashOf(block) {
      const found = await single.request({
        method: 'eth_getBlockByNumber',
        params: [toHex(block), false],
      })
      return found?.hash ?? null
    },

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

    async usedNonces(owner, nonces, blockNumber) {
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
              blockNumber,
            }),
          ),
        )
        for (const [index, nonce] of some.entries()) if (states[index]) used.add(nonce)
      }
      return used
    },
  }
}

function rangesOf(start: bigint, to: bigint, width: bigint, most: number): [bigint, bigint][] {
  const ranges: [bigint, bigint][] = []
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

/** True when the node answered and refused; a node that cannot be reached says nothing about its logs. */
function isRefusal(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'RpcRequestError') return true
  }
  return false
}
