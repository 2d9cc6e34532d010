import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { ConfigError } from '../../domain/errors.ts'

export interface HttpServer {
  /** The address, with the actual port when 0 was requested. */
  url: string
  /** Accepts no new connections and lets open ones finish within `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** A slow client must not hold a connection: headers and body have to arrive within these times. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
/**
 * Longer than proxies and senders keep a connection that nobody uses (mostly 60 s), so that they are the ones to close it. A server
 * that closes first may do so while the next request is on its way, which then has no answer; Node's own time is 5 s.
 */
const keepAliveMs = 75_000

export async function startHttpServer(
  app: { fetch: Parameters<typeof createAdaptorServer>[0]['fetch'] },
  options: { host: string; port: number },
): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.keepAliveTimeout = keepAliveMs
  server.listen(options.port, options.host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'another program listens there' : (error.code ?? 'unknown')
    throw new ConfigError(
      'cannot_listen',
      `cannot listen on ${options.host}:${options.port}: ${reason}; set another port with PAYDIRT_PORT`,
    )
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    async stop(graceMs) {
      const closed = once(server, 'close')
      server.close()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}
