import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { call, openHttpHouse, type Answer } from '../support/http-house.ts'
import { aCompany, house, lines, sandbox, token, useContractHouse } from './http-contract.fixture.ts'

useContractHouse()

describe('every answer', () => {
  const problems: [string, () => Promise<Answer>, number, string][] = [
    ['an unknown path', () => call(`${house.url}/v1/nothing`), 404, 'no_such_route'],
    ['an unknown task', () => call(`${house.url}/v1/tasks/t1_0123456789abcdef`, { token }), 404, 'not_found'],
    ['an unknown run', () => call(`${house.url}/v1/runs/r1`, { token }), 404, 'not_found'],
    ['a wrong method', () => call(`${house.url}/v1/enrich`), 405, 'method_not_allowed'],
    ['no token', () => call(`${house.url}/v1/enrich`, { body: {} }), 401, 'token_missing'],
    [
      'a wrong token',
      () => call(`${house.url}/v1/enrich`, { body: {}, token: 'pd_x' }),
      401,
      'token_unknown',
    ],
    ['broken JSON', () => call(`${house.url}/v1/enrich`, { body: '{"a":', token }), 400, 'malformed_json'],
    [
      'another content type',
      () => call(`${house.url}/v1/enrich`, { body: 'a=1', token, headers: { 'content-type': 'text/plain' } }),
      415,
      'not_json',
    ],
    [
      'a body above 64 kB',
      () => call(`${house.url}/v1/enrich`, { body: { ids: ['x'.repeat(70_000)] }, token }),
      413,
      'too_large',
    ],
  ]

  test.each(problems)('%s is a problem document', async (_, send, status, code) => {
    const answer = await send()
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.body).toMatchObject({
      type: `urn:paydirt:problem:${code}`,
      status,
      code,
      requestId: answer.headers.get('x-request-id'),
    })
    expect(answer.body['title']).toBeTruthy()
  })

  test('says which methods a path takes', async () => {
    const { headers } = await call(`${house.url}/v1/enrich`)
    expect(headers.get('allow')).toBe('POST')
  })

  test('bears the caller’s id where it is a plain word, and one of ours otherwise', async () => {
    const ask = (id: string) => call(`${house.url}/healthz`, { headers: { 'x-request-id': id } })
    expect((await ask('from-the-proxy.1')).headers.get('x-request-id')).toBe('from-the-proxy.1')
    expect((await ask('<script>alert(1)</script>')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await ask('x'.repeat(300))).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('forbids what a page could do with it', async () => {
    const { headers } = await call(`${house.url}/healthz`)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('a body that says no length is cut off at the limit all the same', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 10; part += 1)
          controller.enqueue(new TextEncoder().encode('x'.repeat(10_000)))
        controller.close()
      },
    })
    const response = await fetch(`${house.url}/v1/enrich`, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    } as RequestInit)
    expect(response.status).toBe(413)
  })

  test('leaves a line in the log without query, header or value', async () => {
    lines.length = 0
    await call(`${house.url}/v1/enrich?wait=0&email=jane%40acme.example`, {
      token,
      body: { connector: 'hubspot', object: 'company', ids: [aCompany()] },
      headers: { 'x-request-id': 'the-one-looked-for' },
    })
    const line = lines.find((each) => each.includes('the-one-looked-for')) ?? ''
    expect(JSON.parse(line)).toMatchObject({ method: 'POST', route: '/v1/enrich', status: 202 })
    expect(JSON.parse(line)['caller']).toMatch(/^token:[0-9a-f]{10}$/)
    expect(lines.join('')).not.toMatch(/jane|acme|pd_/)
  })
})

describe('/readyz', () => {
  test('has a line for each of what this process needs', async () => {
    const { status, body } = await call(`${house.url}/readyz`)
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'ok', checks: { database: 'ok', redis: 'ok', service: 'ok', wallet: 'ok' } },
    })
  })
})

describe('a stop', () => {
  test('answers those who wait with the state of now, ends streams, and takes nobody new', async () => {
    const own = await openHttpHouse(sandbox)
    const made = await own.token()
    sandbox.faults.set({ latency: { minMs: 5_000, maxMs: 5_000 } })
    try {
      const url = 'https://www.profnet.example/company/stopped'
      const id = own.addCompany({ name: 'Stopped', profnet_url: url })
      const body = { connector: 'hubspot', object: 'company', ids: [id] }
      const first = await call<{ tasks: { id: string }[] }>(`${own.url}/v1/enrich`, { token: made, body })
      const waiting = call(`${own.url}/v1/enrich?wait=13`, { token: made, body })
      // The second press is in the ledger's hands as soon as its call is counted.
      const calls = () => own.context.database.db.selectFrom('api_token_calls').select('calls').execute()
      while ((await calls()).reduce((sum, row) => sum + row.calls, 0) < 2)
        await new Promise((resolve) => setTimeout(resolve, 10))
      // The stream has just begun when the stop comes: its reader learns the state all the same.
      const stream = await fetch(`${own.url}/v1/tasks/${first.body.tasks[0]?.id}/events`, {
        headers: { authorization: `Bearer ${made}` },
      })
      const startedMs = performance.now()
      const stopping = own.stop()
      expect((await waiting).status).toBe(202)
      expect(performance.now() - startedMs).toBeLessThan(4_000)
      expect(await stream.text()).toContain('"done":false')
      await stopping
      const port = Number(new URL(own.url).port)
      await expect(
        new Promise((resolve, reject) =>
          connect(port, '127.0.0.1').on('connect', resolve).on('error', reject),
        ),
      ).rejects.toThrow(/ECONNREFUSED/)
    } finally {
      sandbox.faults.reset()
      await own.close()
    }
  })
})
