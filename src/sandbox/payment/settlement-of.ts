import { encodePaymentResponseHeader } from '@x402/core/http'
import type { Chain } from '../chain/chain.ts'
import { USDC, tokenAbi } from '../chain/token.ts'
import type { ExactPayload } from './facilitator.ts'
import { NETWORK } from './facilitator.ts'
import type { Headers, Proof } from './wire.ts'
import { writeResult } from './wire.ts'

/** The header of a settlement as the chain tells of it, or null if the authorization was not used. */
export async function settlementOf({ client }: Chain, proof: Proof): Promise<Headers | null> {
  const { authorization } = proof.payload.payload as unknown as ExactPayload
  const [log] = await client.getContractEvents({
    address: USDC,
    abi: tokenAbi,
    eventName: 'AuthorizationUsed',
    args: { authorizer: authorization.from, nonce: authorization.nonce },
    fromBlock: 0n,
    toBlock: 'latest',
  })
  if (log === undefined) return null
  const header = encodePaymentResponseHeader({
    success: true,
    transaction: log.transactionHash,
    network: NETWORK,
    payer: authorization.from,
  })
  return writeResult({ 'PAYMENT-RESPONSE': header }, proof.version)
}
