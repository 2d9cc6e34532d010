import { ConfigError } from '../domain/errors.ts'
import type { Context } from './context.ts'
import { reach } from './reach.ts'

/**
 * Asks each address that a run needs whether it is there, before anything is begun. The database was asked when it was
 * opened, Redis will be when the engine opens. Throws ConfigError naming the address that did not answer.
 */
export async function preflight({ config, chain }: Pick<Context, 'config' | 'chain'>): Promise<void> {
  if (config.serviceUrl !== undefined)
    await reach('the data service (PAYDIRT_SERVICE_URL)', config.serviceUrl)
  if (config.walletKey === undefined) return
  const expected = Number(config.policy.network.split(':')[1])
  const node = new URL(config.rpcUrl).origin
  const actual = await chain.chainId().catch((error: unknown) => {
    throw new ConfigError(
      'chain_unreachable',
      `the chain's RPC at ${node} did not answer (PAYDIRT_RPC_URL)`,
      { cause: error },
    )
  })
  if (actual !== expected) {
    throw new ConfigError(
      'wrong_chain',
      `the RPC at ${node} serves chain ${actual}; payments settle on ${expected} (PAYDIRT_RPC_URL)`,
    )
  }
}
