import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { ConfigError } from '../../domain/errors.ts'
import { startHttpServer } from './server.ts'

test('a port that is taken is named, with the variable that sets another one', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    const error = await startHttpServer(new Hono(), { host: '127.0.0.1', port }).catch(
      (caught: unknown) => caught,
    )
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).toBe(
      `cannot listen on 127.0.0.1:${port}: another program listens there; set another port with PAYDIRT_PORT`,
    )
  } finally {
    other.close()
  }
})
