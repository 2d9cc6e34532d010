import type { Address, Hex, PublicClient, TransactionReceipt } from 'viem'
import { formatTransactionReceipt } from 'viem'

export interface Wallets {
  addresses: readonly Address[]
  /** Sends a transaction and waits until it is mined. A revert is a receipt with that status, not an error. */
  send(transaction: { to: Address; data: Hex }): Promise<TransactionReceipt>
}

const GAS = '0x61a80'

/**
 * Opens accounts whose keys anvil holds. Each sends one transaction at a time: when two leave together, the second may
 * arrive first, and anvil sometimes does not mine it. Further transactions wait in line.
 */
export async function openWallets(client: PublicClient, addresses: readonly Address[]): Promise<Wallets> {
  const free = await Promise.all(
    addresses.map(async (address) => ({ address, nextNonce: await client.getTransactionCount({ address }) })),
  )
  type Wallet = (typeof free)[number]
  const waiting: ((wallet: Wallet) => void)[] = []

  function release(wallet: Wallet): void {
    const next = waiting.shift()
    if (next) next(wallet)
    else free.push(wallet)
  }

  async function submit({ address: from, nextNonce }: Wallet, to: Address, data: Hex) {
    const receipt = await request<Parameters<typeof formatTransactionReceipt>[0]>(
      client,
      'eth_sendTransactionSync',
      [{ from, to, data, nonce: `0x${nextNonce.toString(16)}`, gas: GAS, gasPrice: '0x0' }],
    )
    return formatTransactionReceipt(receipt)
  }

  return {
    addresses,
    async send({ to, data }) {
      const wallet = free.shift() ?? (await new Promise<Wallet>((resolve) => waiting.push(resolve)))
      try {
        return await submit(wallet, to, data)
      } finally {
        // After any outcome, the next transaction's number is read from the chain.
        wallet.nextNonce = await client
          .getTransactionCount({ address: wallet.address })
          .catch(() => wallet.nextNonce + 1)
        release(wallet)
      }
    },
  }
}

/** Sends a JSON-RPC call that viem has no types for: anvil's own methods. */
export async function request<T = unknown>(
  client: PublicClient,
  method: string,
  params: unknown[],
): Promise<T> {
  return (await client.request({ method, params } as never)) as T
}
