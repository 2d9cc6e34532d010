import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Hold {
  /** Method and address, such as `GET /v1/things?after=3`. */
  pattern: RegExp
  arrive: () => void
  released: Promise<void>
}

/** Stands before a server of the loopback and passes everything on, save what it is told to hold back. */
export async function openHttpGate(target: string) {
  let hold: Hold | undefined
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (hold?.pattern.test(`${incoming.method} ${incoming.url}`)) {
      hold.arrive()
      await hold.released
      // The caller was killed meanwhile.
      if (incoming.destroyed || outgoing.destroyed) return
    }
    const { method, headers } = incoming
    const onward = request(new URL(incoming.url ?? '/', target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests that the pattern finds wait until they are released. `arrived`: the first of them is here. */
    hold(pattern: RegExp) {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      hold = { pattern, arrive: arrived.resolve, released: released.promise }
      return {
        arrived: arrived.promise,
        release() {
          hold = undefined
          released.resolve()
        },
      }
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
