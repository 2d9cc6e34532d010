import { createServer, request as forward, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as it went over the wire. `body` is read where it is JSON, and is its text where not. */
interface Exchange {
  method: string
  path: string
  body: unknown
  /** The status of the answer, once it is there. */
  status?: number
}

export interface Wire {
  baseUrl: string
  /** In the order of their coming. */
  log: readonly Exchange[]
  /** Holds the next `times` of these requests until `act` has ended. */
  hold(path: RegExp, act: (exchange: Exchange) => void | Promise<void>, times?: number): void
  forget(): void
  close(): Promise<void>
}

/** Stands between a connector and a stand-in: writes down every request, and can do something before one goes on. */
export async function openWire(targetUrl: string): Promise<Wire> {
  const target = new URL(targetUrl)
  const log: Exchange[] = []
  const holds: { path: RegExp; act: (exchange: Exchange) => void | Promise<void>; left: number }[] = []
  const server = createServer((request, response) => {
    void pass().catch((error: unknown) => response.destroy(error as Error))
    async function pass(): Promise<void> {
      const bytes = await bytesOf(request)
      const exchange: Exchange = {
        method: request.method ?? '',
        path: request.url ?? '',
        body: bodyOf(bytes),
      }
      log.push(exchange)
      const held = holds.find(
        ({ path, left }) => left > 0 && path.test(`${exchange.method} ${exchange.path}`),
      )
      if (held) {
        held.left -= 1
        await held.act(exchange)
      }
      const { hostname, port } = target
      // The headers go on as they are, the host too: the stand-in answers with addresses that lead through here again.
      const onward = forward(
        { hostname, port, method: request.method, path: request.url, headers: request.headers },
        (answer) => {
          exchange.status = answer.statusCode ?? 502
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        },
      )
      onward.on('error', (error) => response.destroy(error))
      onward.end(bytes)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    hold: (path, act, times = 1) => void holds.push({ path, act, left: times }),
    forget: () => void log.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

function bodyOf(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
