import { createPublicClient, getAddress, http, parseAbi, parseAbiItem, type Address, type Hex } from 'viem'
import { errorCode } from '../domain/error-codes.ts'
import { RetriableError } from '../domain/errors.ts'
import type { Authorization, Fate } from '../domain/payment.ts'
import type { Atomic } from '../domain/money.ts'

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
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export interface Transfer {
  transaction: string
  blockNumber: bigint
  to: string
  amountAtomic: Atomic
}

/**
 * Read access to the chain on which payments settle. Every method throws RetriableError `chain_unreachable` when the
 * chain's RPC does not answer.
 */
export interface Chain {
  chainId(): Promise<number>
  balanceOf(owner: string): Promise<Atomic>
  fate(authorization: Authorization): Promise<Fate>
  transfersFrom(owner: string, fromBlock?: bigint): Promise<Transfer[]>
  /** Returns the last block before a time, less an hour to allow for clocks that differ. */
  blockBefore(time: Date): Promise<bigint>
}

export function createChain(options: { rpcUrl: string; asset: string; timeoutMs?: number }): Chain {
  const client = createPublicClient({
    transport: http(options.rpcUrl, { timeout: options.timeoutMs ?? 10_000, retryCount: 1 }),
    pollingInterval: 100,
  })
  const address = getAddress(options.asset)

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (error) {
      const host = new URL(options.rpcUrl).origin
      throw new RetriableError(errorCode.chainUnreachable, `the chain's RPC at ${host} did not answer`, {
        cause: error,
      })
    }
  }

  async function isUsed(owner: Address, nonce: Hex): Promise<boolean> {
    return client.readContract({
      address,
      abi: token,
      functionName: 'authorizationState',
      args: [owner, nonce],
    })
  }

  /**
   * Reads the final block first and the latest state second: a transfer that could still be mined after that block
   * would come too late for `validBefore`.
   */
  async function fate({ payer, nonce, validBefore }: Authorization): Promise<Fate> {
    const final = await client.getBlock({ blockTag: 'finalized' })
    if (await isUsed(getAddress(payer), nonce))
      return { kind: 'used', transaction: await usingTransaction(payer, nonce) }
    return final.timestamp > BigInt(validBefore) ? { kind: 'dead' } : { kind: 'live' }
  }

  /** Public nodes limit the range of a log query. Without the transaction hash the charge is still known to be paid. */
  async function usingTransaction(payer: string, nonce: Hex): Promise<string | null> {
    const latest = await client.getBlockNumber()
    const args = { authorizer: getAddress(payer), nonce }
    const fromBlock = latest > logRange ? latest - logRange : 0n
    const logs = await client.getLogs({ address, event: authorizationUsed, args, fromBlock }).catch(() => [])
    return logs[0]?.transactionHash ?? null
  }

  /** Public nodes return logs for about ten thousand blocks at most. */
  async function transfersFrom(owner: string, fromBlock: bigint): Promise<Transfer[]> {
    const latest = await client.getBlockNumber()
    const transfers: Transfer[] = []
    for (let start = fromBlock; start <= latest; start += logRange) {
      const end = start + logRange - 1n < latest ? start + logRange - 1n : latest
      const range = { fromBlock: start, toBlock: end }
      const logs = await client.getLogs({
        address,
        event: transfer,
        args: { from: getAddress(owner) },
        ...range,
      })
      for (const { transactionHash: transaction, blockNumber, args } of logs) {
        transfers.push({ transaction, blockNumber, to: args.to ?? '', amountAtomic: args.value ?? 0n })
      }
    }
    return transfers
  }

  async function blockBefore(time: Date): Promise<bigint> {
    const wanted = BigInt(Math.floor(time.getTime() / 1000) - 3600)
    let low = 0n
    let high = await client.getBlockNumber()
    while (low < high) {
      const middle = (low + high + 1n) / 2n
      const block = await client.getBlock({ blockNumber: middle })
      if (block.timestamp <= wanted) low = middle
      else high = middle - 1n
    }
    return low
  }

  return {
    chainId: () => ask(() => client.getChainId()),
    balanceOf: (owner) =>
      ask(() =>
        client.readContract({ address, abi: token, functionName: 'balanceOf', args: [getAddress(owner)] }),
      ),
    fate: (authorization) => ask(() => fate(authorization)),
    transfersFrom: (owner, fromBlock = 0n) => ask(() => transfersFrom(owner, fromBlock)),
    blockBefore: (time) => ask(() => blockBefore(time)),
  }
}
