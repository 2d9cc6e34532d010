import { connect } from 'node:net'
import { ConfigError } from '../domain/errors.ts'
import type { Context } from './context.ts'

/**
 * Asks each address that a run needs whether it is there, before anything is begun. The database was asked when it was
 * opened, Redis will be when the engine opens. Throws ConfigError naming the address that did not answer.
 */
export async function preflight({ config, chain }: Pick<Context, 'config' | 'chain'>): Promise<void> {
  if (config.serviceUrl !== undefined) await reach('PAYDIRT_SERVICE_URL', 'data service', config.serviceUrl)
  if (config.walletKey === undefined) return
  const expected = Number(config.policy.network.split(':')[1])
  const actual = await chain.chainId().catch((error: unknown) => {
    const message = `the chain's RPC at ${new URL(config.rpcUrl).origin} did not answer (PAYDIRT_RPC_URL)`
    throw new ConfigError('chain_unreachable', message, { cause: error })
  })
  if (actual !== expected) {
    throw new ConfigError(
      'wrong_chain',
      `the RPC at ${new URL(config.rpcUrl).origin} serves chain ${actual}; payments settle on ${expected} (PAYDIRT_RPC_URL)`,
    )
  }
}

async function reach(variable: string, what: string, address: string): Promise<void> {
  const url = new URL(address)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, timeout: 5_000 })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('timeout', () => reject(new Error('no answer within 5 s')))
      socket.once('error', reject)
    })
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    throw new ConfigError(
      'service_unreachable',
      `the ${what} at ${url.origin} did not answer (${reason}; ${variable})`,
      { cause: error },
    )
  } finally {
    socket.destroy()
  }
}
