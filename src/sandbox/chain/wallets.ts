import type { Address, Hex, PublicClient, TransactionReceipt } from 'viem'
import { formatTransactionReceipt } from 'viem'

export interface Wallets {
  addresses: readonly Address[]
  /** Sends a transaction and waits until it is mined; a revert is a receipt with that status, not an error. */
  send(transaction: { to: Address; data: Hex }): Promise<TransactionReceipt>
}

const GAS = '0x61a80'

/**
 * Accounts that anvil holds the keys of, used in turn. Each transaction gets its number here before it leaves, so
 * that many can be under way at once from the same account.
 */
export async function openWallets(client: PublicClient, addresses: readonly Address[]): Promise<Wallets> {
  const wallets = await Promise.all(
    addresses.map(async (address) => ({ address, nextNonce: await client.getTransactionCount({ address }) })),
  )
  let turn = 0

  async function submit(from: Address, nonce: number, to: Address, data: Hex) {
    const receipt = await request<Parameters<typeof formatTransactionReceipt>[0]>(
      client,
      'eth_sendTransactionSync',
      [{ from, to, data, nonce: `0x${nonce.toString(16)}`, gas: GAS, gasPrice: '0x0' }],
    )
    return formatTransactionReceipt(receipt)
  }

  return {
    addresses,
    async send({ to, data }) {
      const wallet = wallets[turn++ % wallets.length]!
      const nonce = wallet.nextNonce++
      try {
        return await submit(wallet.address, nonce, to, data)
      } catch (error) {
        // A number that was never used would hold back every later transaction of this account.
        await submit(wallet.address, nonce, wallet.address, '0x').catch(() => {})
        throw error
      }
    },
  }
}

/** A JSON-RPC call that viem has no types for: anvil's own methods. */
export async function request<T = unknown>(
  client: PublicClient,
  method: string,
  params: unknown[],
): Promise<T> {
  return (await client.request({ method, params } as never)) as T
}
