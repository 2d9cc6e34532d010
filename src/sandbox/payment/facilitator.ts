import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import type { FacilitatorClient } from '@x402/core/server'
import { FacilitatorTimeoutError } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types'
import type { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import type { Address, Hash, Hex, TransactionReceipt } from 'viem'
import { encodeFunctionData, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { CHAIN_ID } from '../chain/anvil.ts'
import type { Chain } from '../chain/chain.ts'
import { tokenAbi } from '../chain/token.ts'
import { request } from '../chain/wallets.ts'

export const NETWORK = `eip155:${CHAIN_ID}` as const

/** The faults of one settlement. None by default. */
export interface SettlementPlan {
  /** Waits this long before it settles. */
  slowMs?: number
  /** Settles, and reports a timeout after this time. */
  timeoutAfterMs?: number
  /** Answers `settlement_pending` with a transaction that reaches the chain this much later. */
  pendingMs?: number
}

export interface SettlementOrder {
  /** Called when a settlement begins. */
  plan(): SettlementPlan
  /** Called with the result of the settlement, also when the server is told a different one. */
  outcome(result: SettleResponse): void
}

export interface Facilitator extends FacilitatorClient {
  /** Runs `settle` so that a settlement inside it follows the order. */
  during<T>(order: SettlementOrder, settle: () => Promise<T>): Promise<T>
  stop(): void
}

/** The official facilitator, in process, with the accounts of the chain as its wallets. */
export function createFacilitator(chain: Chain): Facilitator {
  const official = new x402Facilitator().register(NETWORK, new ExactEvmScheme(createSigner(chain)))
  const orders = new AsyncLocalStorage<SettlementOrder>()
  const pending = createPendingSettlements(chain)

  return {
    verify: (payload, requirements) => official.verify(payload, requirements),

    async settle(payload, requirements) {
      const order = orders.getStore()
      const report = (result: SettleResponse) => {
        order?.outcome(result)
        return result
      }
      const announced = await pending.look(payload)
      if (announced !== null) return report(announced)

      const plan = order?.plan() ?? {}
      if (plan.slowMs !== undefined) await delay(plan.slowMs)
      if (plan.pendingMs !== undefined)
        return report(await pending.start(payload, requirements, plan.pendingMs))

      const settled = report(await official.settle(payload, requirements))
      if (plan.timeoutAfterMs === undefined) return settled
      await delay(plan.timeoutAfterMs)
      throw new FacilitatorTimeoutError('settle', plan.timeoutAfterMs)
    },

    async getSupported() {
      return official.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>
    },

    during: (order, settle) => orders.run(order, settle),
    stop: pending.stop,
  }
}

function createSigner({ client, wallets }: Chain): ReturnType<typeof toFacilitatorEvmSigner> {
  // The wallets already wait for the receipt, so it is available when the scheme requests it by hash.
  const receipts = new Map<Hash, TransactionReceipt>()

  async function send(to: Address, data: Hex) {
    const receipt = await wallets.send({ to, data })
    receipts.set(receipt.transactionHash, receipt)
    return receipt.transactionHash
  }

  return {
    getAddresses: () => wallets.addresses,
    readContract: (args) => client.readContract(args as Parameters<typeof client.readContract>[0]),
    verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
    getCode: (args) => client.getCode(args),
    writeContract: ({ address, abi, functionName, args, dataSuffix }) =>
      send(address, `${encodeFunctionData({ abi, functionName, args })}${dataSuffix?.slice(2) ?? ''}` as Hex),
    sendTransaction: ({ to, data }) => send(to, data),
    async waitForTransactionReceipt({ hash }) {
      const receipt = receipts.get(hash)
      receipts.delete(hash)
      return receipt ?? (await client.waitForTransactionReceipt({ hash }))
    },
  }
}

interface PendingSettlements {
  look(payload: PaymentPayload): Promise<SettleResponse | null>
  start(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
    pendingMs: number,
  ): Promise<SettleResponse>
  stop(): void
}

/**
 * Settlements whose transaction is signed and announced, and sent later. Each is signed by a wallet of its own, so that
 * its hash is known immediately and no other transaction has to wait for it. Gas is free on this chain.
 */
function createPendingSettlements({ client }: Chain): PendingSettlements {
  const announced = new Map<string, { transaction: Hash; payer: Address }>()
  const timers = new Set<NodeJS.Timeout>()

  function notYet({ transaction, payer }: { transaction: Hash; payer: Address }): SettleResponse {
    return { success: false, errorReason: 'settlement_pending', transaction, payer, network: NETWORK }
  }

  return {
    async look(payload) {
      const entry = announced.get(signatureOf(payload))
      if (entry === undefined) return null
      const receipt = await request<{ status: Hex } | null>(client, 'eth_getTransactionReceipt', [
        entry.transaction,
      ])
      if (receipt === null) return notYet(entry)
      announced.delete(signatureOf(payload))
      if (receipt.status === '0x1') return { success: true, network: NETWORK, ...entry }
      return { ...notYet(entry), errorReason: 'invalid_exact_evm_transaction_failed' }
    },

    async start(payload, requirements, pendingMs) {
      const { authorization, signature } = payload.payload as unknown as ExactPayload
      const raw = await privateKeyToAccount(generatePrivateKey()).signTransaction({
        type: 'legacy',
        chainId: CHAIN_ID,
        nonce: 0,
        gas: 400_000n,
        gasPrice: 0n,
        to: requirements.asset as Address,
        data: encodeFunctionData({
          abi: tokenAbi,
          functionName: 'transferWithAuthorization',
          args: [
            authorization.from,
            authorization.to,
            BigInt(authorization.value),
            BigInt(authorization.validAfter),
            BigInt(authorization.validBefore),
            authorization.nonce,
            signature,
          ],
        }),
      })
      const entry = { transaction: keccak256(raw), payer: authorization.from }
      announced.set(signature, entry)
      const timer = setTimeout(() => {
        timers.delete(timer)
        client.sendRawTransaction({ serializedTransaction: raw }).catch(() => announced.delete(signature))
      }, pendingMs)
      timers.add(timer)
      return notYet(entry)
    },

    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

export interface ExactPayload {
  authorization: {
    from: Address
    to: Address
    value: string
    validAfter: string
    validBefore: string
    nonce: Hex
  }
  signature: Hex
}

function signatureOf(payload: PaymentPayload) {
  return String((payload.payload as Partial<ExactPayload>).signature)
}
