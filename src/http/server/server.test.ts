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

test('a connection that is kept outlives the time after which callers and proxies close theirs', async () => {
  const server = await startHttpServer(
    new Hono().get('/', (context) => context.text('ok')),
    {
      host: '127.0.0.1',
      port: 0,
    },
  )
  try {
    const answer = await fetch(server.url)
    expect(await answer.text()).toBe('ok')
    const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(60)
  } finally {
    await server.stop(0)
  }
})
