import { readFileSync } from 'node:fs'
import type { Address, Hash, Hex, PublicClient } from 'viem'
import { createPublicClient, encodeFunctionData, http } from 'viem'
import type { AnvilOptions } from './anvil.ts'
import { startAnvil } from './anvil.ts'
import { OTHER_TOKEN, USDC, tokenAbi } from './token.ts'
import type { Wallets } from './wallets.ts'
import { openWallets, request } from './wallets.ts'

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Money that left an address, according to the chain's logs. `nonce` is that of the authorization, if one was used. */
export interface Transfer {
  transaction: Hash
  from: Address
  to: Address
  amountAtomic: bigint
  nonce: Hex | null
  blockNumber: bigint
}

export interface Chain {
  rpcUrl: string
  client: PublicClient
  wallets: Wallets
  fund(address: Address, amountAtomic: bigint): Promise<void>
  balanceOf(address: Address): Promise<bigint>
  transfersFrom(address: Address): Promise<Transfer[]>
  stop(): Promise<void>
}

/** Starts a local chain under Base's id, with the USDC stand-in at USDC's address. */
export async function startChain(options: AnvilOptions = {}): Promise<Chain> {
  const anvil = await startAnvil(options)
  try {
    const client: PublicClient = createPublicClient({
      transport: http(anvil.rpcUrl, { retryCount: 0 }),
      pollingInterval: 20,
      cacheTime: 0,
    })
    await Promise.all([
      request(client, 'anvil_setCode', [USDC, bytecode('usdc-stand-in.json')]),
      request(client, 'anvil_setCode', [OTHER_TOKEN, bytecode('usdc-stand-in.json')]),
      request(client, 'anvil_setCode', [MULTICALL3, bytecode('multicall3-stand-in.json')]),
    ])
    const accounts = await request<Address[]>(client, 'eth_accounts', [])
    const wallets = await openWallets(client, accounts)

    return {
      rpcUrl: anvil.rpcUrl,
      client,
      wallets,
      async fund(address, amountAtomic) {
        const data = encodeFunctionData({
          abi: tokenAbi,
          functionName: 'mint',
          args: [address, amountAtomic],
        })
        const receipt = await wallets.send({ to: USDC, data })
        if (receipt.status !== 'success') throw new Error(`minting for ${address} was reverted`)
      },
      balanceOf: (address) =>
        client.readContract({ address: USDC, abi: tokenAbi, functionName: 'balanceOf', args: [address] }),
      transfersFrom: (address) => readTransfers(client, address),
      stop: anvil.stop,
    }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function readTransfers(client: PublicClient, from: Address): Promise<Transfer[]> {
  const range = { address: USDC, fromBlock: 0n, toBlock: 'latest' } as const
  const [transfers, authorizations] = await Promise.all([
    client.getContractEvents({
      ...range,
      abi: tokenAbi,
      eventName: 'Transfer',
      args: { from },
      strict: true,
    }),
    client.getContractEvents({
      ...range,
      abi: tokenAbi,
      eventName: 'AuthorizationUsed',
      args: { authorizer: from },
      strict: true,
    }),
  ])
  const nonces = new Map(authorizations.map((log) => [log.transactionHash, log.args.nonce]))
  return transfers.map((log) => ({
    transaction: log.transactionHash,
    from: log.args.from,
    to: log.args.to,
    amountAtomic: log.args.value,
    nonce: nonces.get(log.transactionHash) ?? null,
    blockNumber: log.blockNumber,
  }))
}

function bytecode(artefact: string): Hex {
  const text = readFileSync(new URL(artefact, import.meta.url), 'utf8')
  return (JSON.parse(text) as { bytecode: Hex }).bytecode
}
