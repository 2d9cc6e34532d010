import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

interface Cut {
  /** The side whose bytes are counted, over all connections. */
  from: 'client' | 'server'
  /** So many still arrive. */
  bytes: number
  /** The server gets the client's last bytes so much later, and knows nothing yet of the cut. */
  lateMs?: number
}

export interface CuttingProxy {
  port: number
  /** Cuts one connection, once. All that follows passes. */
  arm(cut: Cut): void
  wasCut(): boolean
  /** Returns whether a connection was cut, and how many bytes went either way since `arm`. */
  disarm(): { wasCut: boolean; client: number; server: number }
  close(): Promise<void>
}

/** Stands before a server and cuts a connection after so many bytes. */
export async function openCuttingProxy(target: { host: string; port: number }): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cut: Cut | undefined
  let wasCut = false
  let passed = { client: 0, server: 0 }

  const proxy = createServer((client) => {
    const server = connect(target)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.setNoDelay(true)
      socket.once('close', () => sockets.delete(socket))
    }
    // A late part holds up what is behind it.
    let isCut = false
    client.on('data', (chunk) => void pass('client', chunk))
    server.on('data', (chunk) => void pass('server', chunk))
    client.once('close', () => void (isCut || server.end()))
    server.once('close', () => client.destroy())

    function pass(from: Cut['from'], chunk: Buffer): void {
      if (isCut) return
      const before = passed[from]
      passed[from] += chunk.length
      const to = from === 'client' ? server : client
      if (cut?.from !== from || passed[from] < cut.bytes) return void to.write(chunk)
      const { lateMs } = cut
      const rest = chunk.subarray(0, Math.max(0, cut.bytes - before))
      cut = undefined
      wasCut = true
      isCut = true
      if (lateMs === undefined) {
        to.write(rest, () => {
          client.destroy()
          server.destroy()
        })
        return
      }
      client.destroy()
      setTimeout(() => server.end(from === 'client' ? chunk : ''), lateMs)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port,
    arm(next) {
      passed = { client: 0, server: 0 }
      wasCut = false
      cut = next
    },
    wasCut: () => wasCut,
    disarm() {
      cut = undefined
      return { wasCut, ...passed }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void proxy.close(() => resolve()))
    },
  }
}
