import { once } from 'node:events'
import { createServer, Socket, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { noLimits } from './limits.ts'
import { createLedgerPool } from './pool.ts'

/** Those of public clouds forget a silent connection after 240 s or more. */
const forgottenAfterMs = 240_000

test('a connection that is kept open shows that it lives before anybody on its way forgets it', async () => {
  const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
  onTestFinished(() => {
    keepAlive.mockRestore()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const pool = await createLedgerPool({
    urls: [`postgres://paydirt@127.0.0.1:${port}/postgres`],
    needsPrimary: false,
    connections: 4,
    applicationName: 'test',
    limits: noLimits,
  })
  await expect(pool.connect()).rejects.toThrow(/terminated|ECONNRESET/)
  const [first] = keepAlive.mock.calls
  expect(first?.[0]).toBe(true)
  // 0 leaves it to the system: two hours.
  expect(first?.[1]).toBeGreaterThan(0)
  expect(first?.[1]).toBeLessThan(forgottenAfterMs / 2)
  await pool.end()
})
