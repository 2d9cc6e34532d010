import { encodePaymentResponseHeader } from '@x402/core/http'
import type { Address, Hash, Hex } from 'viem'
import type { Chain } from '../chain/chain.ts'
import { USDC, tokenAbi } from '../chain/token.ts'
import type { ExactPayload } from './facilitator.ts'
import { NETWORK } from './facilitator.ts'
import type { Headers, Proof } from './wire.ts'
import { writeResult } from './wire.ts'

/** Returns the transaction that used an authorization, according to the chain, or null if it was not used. */
export async function usedIn(
  { client }: Chain,
  authorization: { from: Address; nonce: Hex },
): Promise<{ transaction: Hash; at: Date } | null> {
  const [log] = await client.getContractEvents({
    address: USDC,
    abi: tokenAbi,
    eventName: 'AuthorizationUsed',
    args: { authorizer: authorization.from, nonce: authorization.nonce },
    fromBlock: 0n,
    toBlock: 'latest',
  })
  if (log === undefined) return null
  const { timestamp } = await client.getBlock({ blockHash: log.blockHash })
  return { transaction: log.transactionHash, at: new Date(Number(timestamp) * 1000) }
}

/** Returns the header of an x402 settlement, or null if the authorization was not used. */
export async function settlementOf(chain: Chain, proof: Proof): Promise<Headers | null> {
  const { authorization } = proof.payload.payload as unknown as ExactPayload
  const used = await usedIn(chain, authorization)
  if (used === null) return null
  const header = encodePaymentResponseHeader({
    success: true,
    transaction: used.transaction,
    network: NETWORK,
    payer: authorization.from,
  })
  return writeResult({ 'PAYMENT-RESPONSE': header }, proof.version)
}
