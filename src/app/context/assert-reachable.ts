import { connect } from 'node:net'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'

/** Throws ConfigError `unreachable`, naming the address, when nothing listens there within five seconds. */
export async function assertReachable(what: string, address: string): Promise<void> {
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
    throw new ConfigError(errorCode.unreachable, `${what} at ${url.origin} did not answer (${reason})`, {
      cause: error,
    })
  } finally {
    socket.destroy()
  }
}
