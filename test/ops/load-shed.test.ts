import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { call, openHttpHouse } from '../support/http-house.ts'

// Needs redis-server (or valkey-server) and Postgres.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`load-shed: left out, ${missing}\n`)

/** A network in front of a server, whose way there may take longer. */
async function startSlowNetwork(port: number) {
  let delayMs = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    // In order, also when the delay becomes shorter.
    let last = Promise.resolve()
    client.on('data', (chunk) => {
      const until = new Promise<void>((resolve) => setTimeout(resolve, delayMs))
      last = Promise.all([last, until]).then(() => void upstream.write(chunk))
    })
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms: number) => (delayMs = ms),
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

describe.skipIf(missing !== undefined)('a slow network to Postgres', () => {
  let redis: Server
  let postgres: Server
  let sandbox: Sandbox
  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startPostgres()
    sandbox = await startSandbox()
  })
  afterAll(async () => {
    await sandbox?.stop()
    for (const server of [postgres, redis]) await server?.stop()
  })

  test('programs are refused, presses go on, and both go on when it is fast again', async () => {
    const url = new URL(postgres.url)
    const network = await startSlowNetwork(Number(url.port))
    url.port = String(network.port)
    const house = await openHttpHouse(sandbox, {
      env: { DATABASE_URL: url.href, REDIS_URL: redis.url },
      config: { http: { shed: { databaseMs: 200, holdSeconds: 2 } } },
    })
    try {
      const token = await house.token()
      let next = 0
      function aCompany(): string {
        for (;;) {
          next += 1
          const profile = `https://www.profnet.example/company/slow-${next}`
          if (companyAnswer(profile).data)
            return house.addCompany({ name: `Acme ${next}`, profnet_url: profile })
        }
      }
      const enrich = async (query = '') => {
        const startedMs = performance.now()
        const { status, headers } = await call(`${house.url}/v1/enrich${query}`, {
          token,
          body: { connector: 'hubspot', object: 'company', ids: [aCompany()] },
        })
        return {
          status,
          retryAfter: headers.get('retry-after'),
          ms: Math.round(performance.now() - startedMs),
        }
      }
      await vi.waitFor(async () => expect((await enrich()).status).toBe(202), { timeout: 60_000 })
      network.delay(400)
      await vi.waitFor(async () => expect((await enrich()).status).toBe(503), { timeout: 60_000 })
      const refused = await Promise.all([1, 2, 3].map(() => enrich()))
      for (const each of refused) expect(each).toMatchObject({ status: 503, retryAfter: '7' })
      const pressed = await Promise.all([1, 2].map(() => enrich('?wait=13')))
      for (const { status } of pressed) expect([200, 202]).toContain(status)
      network.delay(0)
      const slowSinceMs = performance.now()
      await vi.waitFor(async () => expect((await enrich()).status).toBe(202), {
        timeout: 60_000,
        interval: 250,
      })
      const recoveredMs = Math.round(performance.now() - slowSinceMs)
      process.stdout.write(
        `load shed, Postgres 400 ms away: ${JSON.stringify({ refused, pressed, recoveredMs })}\n`,
      )
    } finally {
      network.delay(0)
      await house.close()
      await network.stop()
    }
  })
})
