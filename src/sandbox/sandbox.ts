import type { Address } from 'viem'
import { getAddress } from 'viem'
import { API_KEY, createAccounts, type AccountState, type Credit } from './accounts.ts'
import type { AnvilOptions } from './chain/anvil.ts'
import { CHAIN_ID } from './chain/anvil.ts'
import type { Transfer } from './chain/chain.ts'
import { startChain } from './chain/chain.ts'
import { USDC } from './chain/token.ts'
import type { FaultSwitch } from './faults/fault-switch.ts'
import { createFaultSwitch } from './faults/fault-switch.ts'
import type { FaultsInput } from './faults/faults.ts'
import { startService } from './http/server.ts'
import { createMonitors, type Monitors } from './monitors/index.ts'
import { createFacilitator } from './payment/facilitator.ts'
import { createIdentifierStore } from './payment/identifier.ts'
import { createMppPaywall } from './payment/mpp.ts'
import { createPaywall } from './payment/paywall.ts'
import { createCheckout } from './payment/checkout.ts'
import type { Stats } from './stats.ts'
import { createStatsBook } from './stats.ts'
import { createWorldClock, type WorldClock } from './world/clock.ts'
import { createWorld } from './world/world.ts'

/** The recipient of payments. No one holds its key. */
const PAY_TO = getAddress('0x5a4db0e5a4db0e5a4db0e5a4db0e5a4db0e5a4d0')

export interface SandboxOptions extends AnvilOptions {
  /** Port of the service on the loopback. 0, the default, takes a free one. */
  port?: number
  /** The network's name in paths and keys. Default `profnet`. */
  networkName?: string
  payTo?: Address
  faults?: FaultsInput
  /** API keys with direct access, and their credits. Default: one workspace with the key `sandbox-key`. */
  apiKeys?: Record<string, Credit>
}

export interface Sandbox {
  serviceUrl: string
  logoUrl: string
  rpcUrl: string
  payTo: Address
  asset: Address
  chainId: number
  /** Gives an address money of the chain, in atomic units (six decimals). */
  fund(address: Address, amountAtomic: bigint): Promise<void>
  balanceOf(address: Address): Promise<bigint>
  /** Returns all transfers from an address, in the order of the chain. */
  transfersFrom(address: Address): Promise<Transfer[]>
  faults: Pick<FaultSwitch, 'get' | 'set' | 'reset'>
  /** Makes a monitor detect signals and sends them to its webhook. */
  monitors: Pick<Monitors, 'deliver'>
  /** The time of the companies that searches find. */
  clock: WorldClock
  stats(): Stats
  /** Returns a workspace's remaining and spent credits; undefined for an unknown key. */
  account(apiKey: string): AccountState | undefined
  stop(): Promise<void>
}

/**
 * Starts a data service with synthetic answers for any profile, paid for on a local chain. Payments are checked by the
 * official x402 server, MPP server and facilitator, and by none of our own code. Everything listens on the loopback
 * only.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const {
    port = 0,
    networkName = 'profnet',
    payTo = PAY_TO,
    faults: initialFaults,
    apiKeys = { [API_KEY]: { credit: 10_000, topupCredit: 500 } },
    ...chainOptions
  } = options
  const faults = createFaultSwitch(initialFaults)
  const accounts = createAccounts(apiKeys)
  const monitors = createMonitors({ faults, now: () => new Date(), networkName })
  const clock = createWorldClock()
  const chain = await startChain(chainOptions)
  try {
    const facilitator = createFacilitator(chain)
    const stats = createStatsBook()
    const service = await startService(
      {
        faults,
        stats,
        accounts,
        monitors,
        world: createWorld(clock),
        chain,
        networkName,
        checkout: createCheckout(
          await createPaywall(facilitator, payTo),
          createMppPaywall(facilitator, chain, payTo),
          chain,
        ),
        identifiers: createIdentifierStore(),
      },
      port,
    )
    return {
      serviceUrl: service.serviceUrl,
      logoUrl: service.logoUrl,
      rpcUrl: chain.rpcUrl,
      payTo,
      asset: USDC,
      chainId: CHAIN_ID,
      fund: chain.fund,
      balanceOf: chain.balanceOf,
      transfersFrom: chain.transfersFrom,
      faults,
      monitors,
      clock,
      stats: stats.read,
      account: (apiKey) => accounts.find(apiKey)?.read(),
      async stop() {
        monitors.stop()
        await service.stop()
        facilitator.stop()
        await chain.stop()
      },
    }
  } catch (error) {
    await chain.stop()
    throw error
  }
}
