import { createPublicClient, getAddress, http, parseAbi, parseAbiItem, type Address, type Hex } from 'viem'
import { RetriableError } from '../domain/errors.ts'
import type { Authorization, Fate } from '../domain/payment.ts'
import type { Atomic } from '../domain/money.ts'

/** The token's own words, without which neither a doubt can be settled nor the ledger be checked (EIP-20, EIP-3009). */
const token = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])
const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export interface Transfer {
  transaction: string
  blockNumber: bigint
  to: string
  amountAtomic: Atomic
}

/** Read access to the chain on which payments settle. Every method throws RetriableError `chain_unreachable` when it does not answer. */
export interface Chain {
  chainId(): Promise<number>
  balanceOf(owner: string): Promise<Atomic>
  fate(authorization: Authorization): Promise<Fate>
  transfersFrom(owner: string, fromBlock?: bigint): Promise<Transfer[]>
  blockNumber(): Promise<bigint>
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
      throw new RetriableError('chain_unreachable', `the chain's RPC at ${host} did not answer`, {
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

  /** The final block first, then the latest state: whatever could still be mined after that block comes too late for `validBefore`. */
  async function fate({ payer, nonce, validBefore }: Authorization): Promise<Fate> {
    const final = await client.getBlock({ blockTag: 'finalized' })
    if (await isUsed(getAddress(payer), nonce))
      return { kind: 'used', transaction: await usingTransaction(payer, nonce) }
    return final.timestamp > BigInt(validBefore) ? { kind: 'dead' } : { kind: 'live' }
  }

  /** Public nodes limit the range of a log query; without the transaction the charge is still known to be paid. */
  async function usingTransaction(payer: string, nonce: Hex): Promise<string | null> {
    const latest = await client.getBlockNumber()
    const args = { authorizer: getAddress(payer), nonce }
    const fromBlock = latest > 9_000n ? latest - 9_000n : 0n
    const logs = await client.getLogs({ address, event: authorizationUsed, args, fromBlock }).catch(() => [])
    return logs[0]?.transactionHash ?? null
  }

  return {
    chainId: () => ask(() => client.getChainId()),
    blockNumber: () => ask(() => client.getBlockNumber()),
    balanceOf: (owner) =>
      ask(() =>
        client.readContract({ address, abi: token, functionName: 'balanceOf', args: [getAddress(owner)] }),
      ),
    fate: (authorization) => ask(() => fate(authorization)),
    transfersFrom: (owner, fromBlock = 0n) =>
      ask(async () => {
        const logs = await client.getLogs({
          address,
          event: transfer,
          args: { from: getAddress(owner) },
          fromBlock,
        })
        return logs.map((log) => ({
          transaction: log.transactionHash,
          blockNumber: log.blockNumber,
          to: log.args.to ?? '',
          amountAtomic: log.args.value ?? 0n,
        }))
      }),
  }
}
