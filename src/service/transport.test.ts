import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTransport, type Transport } from './transport.ts'

type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

let answer: (request: Seen, response: ServerResponse) => void
let seen: Seen[]
let base: string
let close: () => Promise<void>
const transports: Transport[] = []

beforeEach(async () => {
  seen = []
  answer = (_, response) => void response.end('{}')
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
      seen.push(one)
      answer(one, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})
afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()))
  await close()
})

function transport(networkName = 'profnet'): Transport {
  const made = createTransport({ userAgent: 'paydirt/1.2.3 (mail@example.test)', networkName })
  transports.push(made)
  return made
}

const post = (path: string, body: string, headers?: Record<string, string>) => ({
  method: 'POST' as const,
  url: `${base}${path}`,
  body,
  timeoutMs: 5_000,
  ...(headers ? { headers } : {}),
})

describe('a request', () => {
  test('is sent unchanged, with exactly the configured User-Agent', async () => {
    answer = (_, response) => void response.writeHead(201, { 'X-Two': ['a', 'b'] }).end('{"ok":true}')
    const reply = await transport().send(
      post('/companies/profnet/lookup?x=1', '{"profnet_url":"u"}', { 'X-Payment': 'p' }),
    )
    expect(seen).toMatchObject([
      {
        method: 'POST',
        path: '/companies/profnet/lookup?x=1',
        body: '{"profnet_url":"u"}',
        headers: { 'x-payment': 'p' },
      },
    ])
    expect(seen[0]?.headers['user-agent']).toBe('paydirt/1.2.3 (mail@example.test)')
    expect(reply).toMatchObject({ status: 201, body: '{"ok":true}', headers: { 'x-two': 'a, b' } })
  })

  test("carries the network's own word in paths and in names of fields, and nowhere else", async () => {
    const sent = {
      profnet_url: 'https://www.profnet.example/company/profnet',
      profnet: { company_profnet_url: 'profnet', note: 'say "profnet_url": twice' },
      profnetish: 1,
      'my profnet': 2,
    }
    answer = ({ body }, response) => void response.end(body)
    const reply = await transport('othernet').send(
      post('/companies/profnet/lookup/profnetish?profnet=profnet', JSON.stringify(sent)),
    )
    expect(seen[0]?.path).toBe('/companies/othernet/lookup/profnetish?profnet=profnet')
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      othernet_url: 'https://www.profnet.example/company/profnet',
      othernet: { company_othernet_url: 'profnet', note: 'say "profnet_url": twice' },
      profnetish: 1,
      'my profnet': 2,
    })
    // On the way back the neutral word is restored, so the body is the same again.
    expect(JSON.parse(reply.body)).toEqual(sent)
  })

  test('offers for a digest exactly the bytes that are sent', async () => {
    const one = transport('othernet')
    const body = '{"profnet_url" : "https://x/company/ü"}'
    await one.send(post('/x', body))
    expect(seen[0]?.body).toBe(one.wireBody(body))
    expect(seen[0]?.body).toContain('othernet_url')
  })

  test('follows no redirect and is never sent a second time', async () => {
    answer = (_, response) => void response.writeHead(307, { location: `${base}/elsewhere` }).end()
    const reply = await transport().send(post('/x', '{}', { 'payment-signature': 'secret' }))
    expect(reply).toMatchObject({ status: 307 })
    expect(seen.map(({ path }) => path)).toEqual(['/x'])
  })

  test.each([402, 429, 500, 503])('that is answered with %i is not repeated', async (status) => {
    answer = (_, response) => void response.writeHead(status).end('no')
    expect(await transport().send(post('/x', '{}'))).toMatchObject({ status, body: 'no' })
    expect(seen).toHaveLength(1)
  })
})

describe('an incomplete answer', () => {
  const failing = (request = post('/x', '{}', { 'payment-signature': 'secret' })) =>
    transport()
      .send(request)
      .then(
        () => undefined,
        (error: unknown) => error,
      )

  test('within the time limit names host and duration, and aborts the request', async () => {
    const cut = new Promise<void>((resolve) => {
      answer = (_, response) => void response.on('close', resolve)
    })
    const error = await failing({ ...post('/x', '{}'), timeoutMs: 60 })
    expect(error).toMatchObject({
      name: 'RetriableError',
      code: 'timeout',
      message: `${base} did not answer within 60 ms`,
    })
    await cut
  })

  test('because only its head came within the time limit', async () => {
    answer = (_, response) => void response.writeHead(200).write('{"data":')
    expect(await failing({ ...post('/x', '{}'), timeoutMs: 100 })).toMatchObject({ code: 'timeout' })
  })

  test('because the connection was cut', async () => {
    answer = (_, response) => void response.socket?.destroy()
    const error = await failing()
    expect(error).toMatchObject({
      name: 'RetriableError',
      code: 'unreachable',
      details: { origin: base, path: '/x' },
    })
    expect(JSON.stringify(error)).not.toContain('secret')
    expect(seen).toHaveLength(1)
  })

  test('because the connection was cut in the middle of the body', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"data":', () => response.socket?.destroy())
    }
    expect(await failing()).toMatchObject({ name: 'RetriableError', code: 'unreachable' })
  })

  test('because the port is closed', async () => {
    const gone = base
    await close()
    close = async () => {}
    expect(await failing()).toMatchObject({
      code: 'unreachable',
      message: `no answer from ${gone} (ECONNREFUSED)`,
    })
  })

  test('because the caller aborted it', async () => {
    const controller = new AbortController()
    answer = () => controller.abort()
    expect(await failing({ ...post('/x', '{}'), signal: controller.signal } as never)).toMatchObject({
      name: 'RetriableError',
    })
  })

  test('while it waits for a connection: nothing of it is ever sent', async () => {
    const one = createTransport({ userAgent: 'paydirt/1', networkName: 'profnet', connections: 1 })
    transports.push(one)
    const controller = new AbortController()
    let finish: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      answer = (_, response) => {
        finish = () => response.end('{}')
        resolve()
      }
    })
    const first = one.send(post('/first', '{}'))
    await begun
    const late = one.send({ ...post('/late', '{}'), timeoutMs: 30 }).catch((error: unknown) => error)
    const aborted = one
      .send({ ...post('/aborted', '{}'), signal: controller.signal } as never)
      .catch((error: unknown) => error)
    controller.abort()
    expect(await late).toMatchObject({ code: 'timeout' })
    expect(await aborted).toMatchObject({ name: 'RetriableError' })
    finish()
    await first
    answer = (_, response) => void response.end('{}')
    await one.send(post('/after', '{}'))
    expect(seen.map(({ path }) => path)).toEqual(['/first', '/after'])
  })
})
