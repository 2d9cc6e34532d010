import { setTimeout as pause } from 'node:timers/promises'
import {
  BaseError,
  RpcRequestError,
  createPublicClient,
  getAddress,
  http,
  isAddressEqual,
  parseAbi,
  parseAbiItem,
  parseEventLogs,
  type Address,
  type Hash,
  type Hex,
} from 'viem'
import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { Authorization, Fate } from '../../domain/payment.ts'
import type { Atomic } from '../../domain/money.ts'
import { boundedFetch } from '../bounded-fetch.ts'
import { nodeBehind } from './node-behind.ts'
import { createTransferLog, type LogPage, type TransferLog } from './transfer-log.ts'

/**
 * The parts of the token's interface that are needed to resolve a charge in doubt and to check the ledger (EIP-20,
 * EIP-3009).
 */
const token = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])
const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)
const logRange = 9_000n
/** Hex digits of a word of a call. */
const wordLength = 64

/**
 * Read access to the chain on which payments settle. Every method throws RetriableError `chain_unreachable` when the
 * chain's RPC does not answer.
 */
export interface Chain extends TransferLog {
  chainId(): Promise<number>
  balanceOf(owner: string): Promise<Atomic>
  /** Throws when the node that answers is behind the block by which the fate is decided. */
  fate(authorization: Pick<Authorization, 'payer' | 'nonce' | 'validBefore'>): Promise<Fate>
  noncesUsedIn(owner: string, transaction: string): Promise<Hex[]>
  /** Returns the times between which an authorization was valid, from the call that used it; undefined where it is not found. */
  timesOf(transaction: string, nonce: string): Promise<AuthorizationTimes | undefined>
}

/** In seconds of Unix time. */
interface AuthorizationTimes {
  validAfter: number
  validBefore: number
}

export interface ChainOptions {
  rpcUrl: string
  asset: string
  timeoutMs?: number
  /** The waits before a node is asked again for a block that it did not have. */
  pausesMs?: readonly number[]
}

export function createChain(options: ChainOptions): Chain {
  const { pausesMs = [300, 1_200] } = options
  const client = createPublicClient({
    transport: http(options.rpcUrl, {
      timeout: options.timeoutMs ?? 10_000,
      retryCount: 1,
      fetchFn: boundedFetch,
    }),
    pollingInterval: 100,
  })
  const address = getAddress(options.asset)
  const log = createTransferLog({ ...options, pausesMs, timeoutMs: options.timeoutMs ?? 10_000 })

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (error) {
      if (error instanceof RetriableError) throw error
      const host = new URL(options.rpcUrl).origin
      throw new RetriableError(
        errorCode.chainUnreachable,
        `the chain's RPC at ${host} did not answer; try again later, or set PAYDIRT_RPC_URL to another node`,
        {
          cause: error,
        },
      )
    }
  }

  /**
   * Reads whether the authorization is used at one named block, and judges by that block. An address may have several nodes
   * behind it, and one of them may be hours behind: asked for its latest state, it would call a paid authorization unused.
   * A node that does not have the block cannot answer. A block at or after the final one contains every transfer that was
   * in time when the final block is past `validBefore`.
   */
  async function fate({ payer, nonce, validBefore }: Parameters<Chain['fate']>[0]): Promise<Fate> {
    const final = await client.getBlock({ blockTag: 'finalized' })
    const head = await client.getBlock({ blockTag: 'latest' })
    if (head.number < final.number)
      throw nodeBehind(options.rpcUrl, `its latest block ${head.number} is before the final one`)
    if (await isUsedAt(head.hash, getAddress(payer), nonce))
      return { kind: 'used', transaction: await usingTransaction(payer, nonce) }
    return final.timestamp > BigInt(validBefore) ? { kind: 'dead' } : { kind: 'live' }
  }

  async function isUsedAt(blockHash: Hash, owner: Address, nonce: Hex): Promise<boolean> {
    const question = {
      address,
      abi: token,
      functionName: 'authorizationState',
      args: [owner, nonce],
    } as const
    const waits = [...pausesMs]
    for (;;) {
      try {
        return await client.readContract({ ...question, blockHash, requireCanonical: true })
      } catch (cause) {
        // Other errors, such as no connection, are reported as what they are.
        if (!(cause instanceof BaseError && cause.walk((error) => error instanceof RpcRequestError)))
          throw cause
        // The newest block reaches the nodes of one address within moments of each other.
        const waitMs = waits.shift()
        if (waitMs === undefined) {
          const why = 'it cannot answer for a block that another node has'
          throw nodeBehind(options.rpcUrl, why, cause)
        }
        await pause(waitMs)
      }
    }
  }

  /** Returns the nonces of the owner's authorizations that a transaction used. */
  async function noncesUsedIn(owner: string, transaction: string): Promise<Hex[]> {
    const { logs } = await client.getTransactionReceipt({ hash: transaction as Hash })
    const ours = logs.filter((log) => isAddressEqual(log.address, address))
    return parseEventLogs({ abi: [authorizationUsed], logs: ours })
      .filter(({ args }) => isAddressEqual(args.authorizer, getAddress(owner)))
      .map(({ args }) => args.nonce)
  }

  /**
   * The arguments of the token's call (from, to, value, validAfter, validBefore, nonce) stand together in the input of the
   * transaction, also where a contract of the facilitator passes it on.
   */
  async function timesOf(transaction: string, nonce: string): Promise<AuthorizationTimes | undefined> {
    const { input } = await client.getTransaction({ hash: transaction as Hash })
    const at = input.toLowerCase().indexOf(nonce.slice(2).toLowerCase())
    if (at < 2 + 5 * wordLength) return undefined
    const word = (before: number) =>
      BigInt(`0x${input.slice(at - before * wordLength, at - (before - 1) * wordLength)}`)
    const [validBefore, validAfter] = [word(1), word(2)]
    const latest = BigInt(Number.MAX_SAFE_INTEGER)
    if (validBefore > latest || validAfter > validBefore) return undefined
    return { validAfter: Number(validAfter), validBefore: Number(validBefore) }
  }

  /** Public nodes limit the range of a log query. Without the transaction hash the charge is still known to be paid. */
  async function usingTransaction(payer: string, nonce: Hex): Promise<string | null> {
    const latest = await client.getBlockNumber()
    const args = { authorizer: getAddress(payer), nonce }
    const fromBlock = latest > logRange ? latest - logRange : 0n
    const logs = await client.getLogs({ address, event: authorizationUsed, args, fromBlock }).catch(() => [])
    return logs[0]?.transactionHash ?? null
  }

  async function* pages(...[owner, from, to]: Parameters<Chain['pages']>): AsyncGenerator<LogPage> {
    const read = log.pages(owner, from, to)
    for (;;) {
      const page = await ask(() => read.next())
      if (page.done) return
      yield page.value
    }
  }

  return {
    chainId: () => ask(() => client.getChainId()),
    balanceOf: (owner) =>
      ask(() =>
        client.readContract({ address, abi: token, functionName: 'balanceOf', args: [getAddress(owner)] }),
      ),
    fate: (authorization) => ask(() => fate(authorization)),
    noncesUsedIn: (owner, transaction) => ask(() => noncesUsedIn(owner, transaction)),
    timesOf: (transaction, nonce) => ask(() => timesOf(transaction, nonce)),
    blocks: () => ask(() => log.blocks()),
    block: (number) => ask(() => log.block(number)),
    blockBefore: (time) => ask(() => log.blockBefore(time)),
    pages,
    usedNonces: (owner, nonces, block) => ask(() => log.usedNonces(owner, nonces, block)),
  }
}
