import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { ConfigError } from '../domain/errors.ts'

export interface HttpServer {
  /** Where it listens; the port is the real one when 0 was asked for. */
  url: string
  /** Takes no new connections and lets those in hand end, up to `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export async function startHttpServer(
  app: Hono,
  options: { host: string; port: number },
): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch: app.fetch })
  const failed = once(server, 'error').then(([error]) => {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown'
    throw new ConfigError(
      'cannot_listen',
      `cannot listen on ${options.host}:${options.port} (${reason}; PAYDIRT_PORT)`,
    )
  })
  server.listen(options.port, options.host)
  await Promise.race([once(server, 'listening'), failed])
  failed.catch(() => {})
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    async stop(graceMs) {
      const closed = once(server, 'close')
      server.close()
      const timer = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}
