import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryCallBudget } from '../../src/connectors/budget.ts'
import { ConfigError, RetriableError } from '../../src/domain/errors.ts'
import { openSalesforceBench, scanAll, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench

beforeEach(async () => {
  bench = await openSalesforceBench()
})
afterEach(() => bench.stop())

const logins = /POST .*oauth2\/token/
const queries = /GET .*\/query$/

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as Error,
  )
}

describe('a session with Salesforce', () => {
  test('is opened once, however many requests wait for it', async () => {
    const connector = bench.connect()
    const ids = bench.ids('Account', 10)
    await Promise.all(ids.map((id) => connector.read('Account', [id])))
    expect(bench.requests(logins)).toBe(1)
  })

  test('is opened again when it ends in mid scan, and no record is lost or comes twice', async () => {
    const connector = bench.connect({ pageSize: 10 })
    const seen: string[] = []
    for await (const page of connector.scan('Contact', {})) {
      seen.push(...page.records.map(({ id }) => id))
      if (seen.length === 20 || seen.length === 40) bench.org.auth.expireSessions()
    }
    expect(seen).toHaveLength(60)
    expect(new Set(seen).size).toBe(60)
    expect(bench.requests(logins)).toBe(3)
  })

  test('is opened again once for all requests that find it ended', async () => {
    const connector = bench.connect()
    const ids = bench.ids('Account', 20)
    await connector.read('Account', ids)
    bench.org.auth.expireSessions()
    await Promise.all(ids.map((id) => connector.read('Account', [id])))
    expect(bench.requests(logins)).toBe(2)
  })

  test('ends in an error, and not in a loop, when fresh sessions are refused', async () => {
    const body = [{ errorCode: 'INVALID_SESSION_ID', message: 'Session expired or invalid' }]
    bench.org.faults.inject({ kind: 'answer', status: 401, body, times: 1_000, path: /\/query$/ })
    const connector = bench.connect()
    const error = await failure(scanAll(connector, 'Contact'))
    expect(error).toBeInstanceOf(ConfigError)
    expect(bench.requests(logins)).toBeLessThanOrEqual(3)
    bench.org.faults.clear()
    expect((await scanAll(connector, 'Contact')).ids).toHaveLength(60)
  })

  test('is opened with a JWT that we sign for the My Domain', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    bench.org.auth.setJwtKey(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const { clientId, username } = bench.org.auth
    const auth = (name: string) =>
      ({
        kind: 'jwt_bearer',
        clientId,
        username: name,
        privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }) as const
    // The slash that people copy along is no part of the audience.
    const loginUrl = `${bench.org.baseUrl}/`
    const connector = bench.connect({ loginUrl, auth: auth(username) })
    expect((await scanAll(connector, 'Lead')).ids).toHaveLength(20)
    bench.org.auth.expireSessions()
    bench.clock.nowMs += 86_400_000
    expect((await scanAll(connector, 'Lead')).ids).toHaveLength(20)
    const { problems } = await bench.connect({ auth: auth('nobody@norvik.example') }).check()
    expect(problems).toEqual([expect.objectContaining({ code: 'salesforce_login_refused' })])
    expect(problems[0]?.message).toContain('invalid_grant')
  })

  test.each(['no key', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })])(
    'refuses a key that cannot sign',
    (privateKeyPem) => {
      const auth = {
        kind: 'jwt_bearer',
        clientId: 'x',
        username: 'x',
        privateKeyPem: String(privateKeyPem),
      } as const
      expect(() => bench.connect({ auth })).toThrow(ConfigError)
    },
  )

  test('a wrong secret is a line in the check and an error of the settings elsewhere, without the secret', async () => {
    const auth = {
      kind: 'client_credentials',
      clientId: bench.org.auth.clientId,
      clientSecret: 's3cret',
    } as const
    const connector = bench.connect({ auth })
    const check = await connector.check()
    expect(check).toMatchObject({ account: null, problems: [{ code: 'salesforce_login_refused' }] })
    expect(check.problems[0]?.message).toContain('SALESFORCE_CLIENT_SECRET')
    const error = await failure(scanAll(connector, 'Contact'))
    expect(error).toBeInstanceOf(ConfigError)
    expect(JSON.stringify([check, error.message, error])).not.toContain('s3cret')
  })
})

describe('requests to Salesforce', () => {
  test('an answer that never comes ends at the time-out, at login and behind it', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    const loginUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    try {
      const error = await failure(scanAll(bench.connect({ loginUrl, timeoutMs: 100 }), 'Contact'))
      expect(error).toBeInstanceOf(RetriableError)
      expect(error.message).toContain('100 ms')
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })

  test('a body that never ends ends at the time-out', async () => {
    const halting = createServer((request, response) => {
      if (request.url?.includes('/oauth2/token'))
        response.end(
          JSON.stringify({
            access_token: 'x',
            instance_url: `http://${request.headers.host}`,
            id: 'https://login.example/id/00DWx0000000XY1MAM/005Wx0000000A1BIAU',
          }),
        )
      else response.writeHead(200, { 'content-type': 'application/json' }).write('{"done":')
    })
    await new Promise<void>((done) => halting.listen(0, '127.0.0.1', done))
    const loginUrl = `http://127.0.0.1:${(halting.address() as AddressInfo).port}`
    try {
      const error = await failure(bench.connect({ loginUrl, timeoutMs: 100 }).describe('Contact'))
      expect(error).toBeInstanceOf(RetriableError)
      expect(bench.pauses).toHaveLength(2)
    } finally {
      halting.closeAllConnections()
      halting.close()
    }
  })

  test('a cut connection and a 503 are tried again, and no record is lost', async () => {
    bench.org.faults.inject({ kind: 'drop', path: /\/query$/ })
    bench.org.faults.inject({ kind: 'answer', status: 503, path: /\/query$/ })
    expect((await scanAll(bench.connect(), 'Contact')).ids).toHaveLength(60)
    expect(bench.pauses).toEqual([500, 1_000])
  })

  test('what stays away is a RetriableError after three tries', async () => {
    bench.org.faults.inject({ kind: 'answer', status: 503, path: /\/query$/, times: 99 })
    expect(await failure(scanAll(bench.connect(), 'Contact'))).toMatchObject({
      code: 'salesforce_unavailable',
    })
    expect(bench.requests(queries)).toBe(3)
  })

  test('an exhausted day delays the work and takes no try', async () => {
    const connector = bench.connect({ quotaShare: 1 })
    bench.org.quota.used = bench.org.quota.limit
    const error = await failure(scanAll(connector, 'Contact'))
    expect(error).toBeInstanceOf(RetriableError)
    expect(error).toMatchObject({ code: 'salesforce_quota', countsAsTry: false, retryAfterMs: 15 * 60_000 })
    // Nothing more is sent until then.
    const before = bench.org.stats().requests
    expect(await failure(connector.read('Lead', bench.ids('Lead', 1)))).toMatchObject({
      code: 'salesforce_quota',
    })
    expect(bench.org.stats().requests).toBe(before)
    bench.org.quota.used = 10
    bench.clock.nowMs += 15 * 60_000
    expect((await scanAll(connector, 'Contact')).ids).toHaveLength(60)
  })

  test('leaves the rest of the day to others, across connectors that share a budget', async () => {
    const callBudget = createMemoryCallBudget({ now: () => bench.clock.nowMs })
    const [one, two] = [
      bench.connect({ callBudget, quotaShare: 0.5 }),
      bench.connect({ callBudget, quotaShare: 0.5 }),
    ]
    await one.describe('Contact')
    await two.describe('Contact')
    bench.org.quota.used = bench.org.quota.limit / 2
    expect((await one.read('Contact', bench.ids('Contact', 1))).size).toBe(1)
    expect(await failure(two.read('Contact', bench.ids('Contact', 1)))).toMatchObject({
      code: 'salesforce_quota',
      countsAsTry: false,
    })
  })

  test('tells how much of the day is used', async () => {
    bench.org.quota.used = 1_233
    expect(await bench.connect().quota()).toEqual({
      used: 1_234,
      limit: 100_000,
      resetsAt: new Date(bench.clock.nowMs + 86_400_000),
    })
  })
})
