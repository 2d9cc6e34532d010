import { setTimeout as pause } from 'node:timers/promises'
import { HttpRequestError, ResponseBodyTooLargeError, TimeoutError, toHex, type Hex } from 'viem'
import { getHttpRpcClient } from 'viem/utils'
import { boundedFetch } from '../bounded-fetch.ts'
import { nodeBehind } from './node-behind.ts'

export interface RawLog {
  topics: Hex[]
  data: Hex
  transactionHash: Hex
  logIndex: Hex
  blockNumber: Hex
}

/** The first and the last block of a range. */
export type BlockRange = readonly [first: bigint, last: bigint]

/** The logs of each range, up to the first range that the node refuses. */
export interface RangeLogs {
  logs: RawLog[][]
  /** The hash of the last range's last block; null when a range was refused. */
  hash: string | null
}

export interface LogReaderOptions {
  rpcUrl: string
  timeoutMs: number
  filter: { address: Hex; topics: readonly [Hex[], Hex] }
  /** The waits before a node that is behind is asked again. */
  pausesMs: readonly number[]
  /** The last block of all that is read. A node with another block of this number does not count as having it. */
  end: { number: bigint; hash?: string | undefined }
}

interface Call {
  method: string
  params: unknown[]
}

interface Reply {
  id?: unknown
  result?: unknown
  error?: { code?: number; message?: string } | null
}

/**
 * Reads logs from an address that may have several nodes behind it. Asked for a range beyond its newest block, a node that
 * is behind either answers with the logs that it has, as if there were no others, or refuses the range as if it were
 * pruned. So the last block is asked for in the same HTTP request: without that block, nothing of the answer is believed.
 *
 * A node that takes one call a request cannot be tied to its logs, and a proxy may send the calls of one request to several
 * nodes. The caller therefore reads the newest blocks again the next time.
 */
export function createLogReader({ rpcUrl, timeoutMs, filter, pausesMs, end }: LogReaderOptions) {
  const client = getHttpRpcClient(rpcUrl, { timeout: timeoutMs, fetchFn: boundedFetch })
  let takesBatches = true

  /** Reads ranges that follow one another. Throws when the node is behind them. */
  async function read(ranges: readonly BlockRange[]): Promise<RangeLogs> {
    for (const waitMs of [...pausesMs, undefined]) {
      const read = (takesBatches && (await readAtOnce(ranges))) || (await readOneByOne(ranges))
      if (read !== 'behind') return read
      if (waitMs !== undefined) await pause(waitMs)
    }
    throw nodeBehind(rpcUrl, `it does not have block ${ranges.at(-1)![1]}, so its logs may be missing`)
  }

  /** Returns undefined when the node does not take such a request. */
  async function readAtOnce(ranges: readonly BlockRange[]): Promise<RangeLogs | 'behind' | undefined> {
    const calls = [...ranges.map(logsOf), blockOf(ranges.at(-1)![1])]
    const answer = await post(calls.map((call, id) => ({ id, ...call }))).catch((error: unknown) => {
      if (error instanceof ResponseBodyTooLargeError) return { error: { message: error.message } }
      if (error instanceof HttpRequestError && [400, 405, 413, 422].includes(error.status ?? 0))
        return undefined
      throw error
    })
    const replies = Array.isArray(answer) ? (answer as Reply[]) : []
    const byId = calls.map((_, id) => replies.find((reply) => reply.id === id))
    if (byId.includes(undefined)) {
      takesBatches = false
      return undefined
    }
    const logs = whole(byId.slice(0, -1) as Reply[])
    const hash = hashIn(byId.at(-1)!)
    if (!isOnChain(ranges.at(-1)![1], hash)) return 'behind'
    return { logs, hash: logs.length === ranges.length ? hash : null }
  }

  async function readOneByOne(ranges: readonly BlockRange[]): Promise<RangeLogs | 'behind'> {
    const replies: Reply[] = []
    for (const range of ranges) {
      const reply = await single(logsOf(range))
      if (isRefused(reply)) return { logs: whole(replies), hash: null }
      replies.push(reply)
    }
    const last = ranges.at(-1)![1]
    const hash = hashIn(await single(blockOf(last)))
    return isOnChain(last, hash) ? { logs: whole(replies), hash } : 'behind'
  }

  async function single(call: Call): Promise<Reply> {
    try {
      return (await post({ id: 0, ...call })) as Reply
    } catch (error) {
      if (error instanceof ResponseBodyTooLargeError) return { error: { message: error.message } }
      throw error
    }
  }

  /** Asks once more when no answer came. */
  async function post(body: object): Promise<unknown> {
    const ask = () => client.request({ body: body as never })
    return ask().catch((error: unknown) => {
      const isAway =
        error instanceof TimeoutError || (error instanceof HttpRequestError && (error.status ?? 500) >= 500)
      if (!isAway) throw error
      return ask()
    })
  }

  function isOnChain(block: bigint, hash: string | null): boolean {
    if (hash === null) return false
    return block !== end.number || end.hash === undefined || end.hash === hash
  }

  function logsOf([first, last]: BlockRange): Call {
    const { address, topics } = filter
    return {
      method: 'eth_getLogs',
      params: [{ address, topics, fromBlock: toHex(first), toBlock: toHex(last) }],
    }
  }

  return { read }
}

function blockOf(number: bigint): Call {
  return { method: 'eth_getBlockByNumber', params: [toHex(number), false] }
}

function hashIn({ result }: Reply): string | null {
  return (result as { hash?: string } | null | undefined)?.hash ?? null
}

function whole(replies: readonly Reply[]): RawLog[][] {
  const refused = replies.findIndex(isRefused)
  return replies.slice(0, refused < 0 ? replies.length : refused).map(({ result }) => result as RawLog[])
}

/** True when the node refuses the range. Throws when it refuses for a reason that says nothing about the range. */
function isRefused({ result, error }: Reply): boolean {
  if (Array.isArray(result)) return false
  const message = error?.message ?? ''
  if (error?.code === 429 || /rate.?limit|too many requests|request limit|(?:per |\/)second/i.test(message))
    throw new Error('the node asks for fewer requests')
  return true
}
