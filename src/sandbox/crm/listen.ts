import { createServer, type IncomingMessage, type Server } from 'node:http'
import { serve } from '@hono/node-server'

export interface Listening {
  readonly baseUrl: string
  readonly stop: () => Promise<void>
}

/** The connection as a handler sees it, so that a fault can cut it. */
export interface ConnectionBindings {
  readonly incoming: IncomingMessage
}

/** Serves on a loopback port, by default a free one. Headers may have up to 64 KiB, so that the stand-in itself refuses a long URL. */
export async function listen(
  fetch: (request: Request, bindings: ConnectionBindings) => Response | Promise<Response>,
  port = 0,
): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = serve(
    {
      fetch: (request, env) => fetch(request, env as ConnectionBindings),
      createServer,
      serverOptions: { maxHeaderSize: 65_536 },
      hostname: '127.0.0.1',
      port,
    },
    (info) => resolve(info.port),
  ) as Server
  server.once('error', reject)
  return {
    baseUrl: `http://127.0.0.1:${await promise}`,
    stop: () =>
      new Promise((done, fail) => {
        server.close((error) => (error ? fail(error) : done()))
        server.closeAllConnections()
      }),
  }
}
