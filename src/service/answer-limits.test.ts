import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogoClient } from './logo.ts'
import { createTransport, maxAnswerBytes, type Transport } from './transport.ts'

let answer: (response: ServerResponse) => void
let base: string
let transport: Transport
let close: () => Promise<void>
/** Bytes that the server could send before the client had enough. */
let sent: number

beforeEach(async () => {
  sent = 0
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  transport = createTransport({ userAgent: 'paydirt/1', networkName: 'profnet' })
  close = async () => {
    await transport.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})
afterEach(() => close())

const ask = () => transport.send({ method: 'POST', url: `${base}/x`, body: '{}', timeoutMs: 10_000 })

/** Writes without an end, until the client closes the connection. */
function flood(response: ServerResponse, begin: string, chunk: string): void {
  response.on('error', () => {})
  response.write(begin)
  const write = () => {
    while (!response.destroyed && sent < 100_000_000) {
      sent += chunk.length
      if (!response.write(chunk)) return void response.once('drain', write)
    }
  }
  write()
}

describe('an answer without an end', () => {
  test('is cut at 2 MB, and what is complete in it is kept', async () => {
    answer = (response) => {
      response.writeHead(200, { 'payment-response': 'proof' })
      flood(response, '{"data":{"company_name":"Acme","people":[', `{"name":"${'x'.repeat(1_000)}"},`)
    }
    const reply = await ask()
    expect(reply).toMatchObject({
      status: 200,
      headers: { 'payment-response': 'proof' },
      cutAfterBytes: maxAnswerBytes,
    })
    const { data } = JSON.parse(reply.body) as { data: { company_name: string; people: object[] } }
    expect(data.company_name).toBe('Acme')
    expect(data.people.length).toBeGreaterThan(2_000)
    expect(reply.body.length).toBeLessThanOrEqual(maxAnswerBytes)
    expect(sent).toBeLessThan(20_000_000)
  })

  test('that is no JSON is kept as text', async () => {
    answer = (response) => {
      response.writeHead(200)
      flood(response, '', 'not json ')
    }
    const reply = await ask()
    expect(reply.body).toHaveLength(maxAnswerBytes)
    expect(reply.cutAfterBytes).toBe(maxAnswerBytes)
  })

  test.each([402, 400, 500])('of status %i is read to 64 kB', async (status) => {
    answer = (response) => {
      response.writeHead(status)
      flood(response, '{"error":"', 'x'.repeat(10_000))
    }
    const reply = await ask()
    expect(reply.status).toBe(status)
    expect(reply.body.length).toBe(65_536)
    expect(sent).toBeLessThan(10_000_000)
  })

  test('as a logo is known by its beginning: this one is the placeholder', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'image/png' })
      flood(response, '', 'x'.repeat(10_000))
    }
    const logos = createLogoClient(transport, { logoUrl: base })
    expect(await logos.lookup('acme.example')).toMatchObject({ outcome: 'not_found' })
  })
})

test('an answer of exactly 2 MB is whole', async () => {
  answer = (response) => void response.end('x'.repeat(maxAnswerBytes))
  const reply = await ask()
  expect(reply.cutAfterBytes).toBeUndefined()
  expect(reply.body).toHaveLength(maxAnswerBytes)
})

describe('headers', () => {
  test('of 30 kB are read, so that a long challenge can be refused by name', async () => {
    answer = (response) => void response.writeHead(402, { 'payment-required': 'x'.repeat(30_000) }).end('{}')
    expect((await ask()).headers['payment-required']).toHaveLength(30_000)
  })

  test('of 100 kB are an error that says so', async () => {
    answer = (response) => void response.writeHead(402, { 'payment-required': 'x'.repeat(100_000) }).end('{}')
    await expect(ask()).rejects.toMatchObject({ name: 'RetriableError', code: 'headers_too_large' })
  })
})
