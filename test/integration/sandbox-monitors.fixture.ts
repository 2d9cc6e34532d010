import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { WEBHOOK_SECRET } from '../../src/sandbox/monitors/post-webhook.ts'

export interface Reply {
  status: number
  body: {
    data: Record<string, unknown>
    metadata: Record<string, unknown>
    code: number
    details: Record<string, unknown>
  }
}

/** Returns a function that sends requests to a sandbox with an API key, without any part of our client. */
export function createCaller(serviceUrl: () => string) {
  return async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(`${serviceUrl()}${path}`, {
      method,
      headers: {
        'user-agent': 'monitor-tests/1',
        'x-api-key': API_KEY,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      body: (isJson ? await response.json() : await response.text()) as Reply['body'],
    }
  }
}

interface Received {
  id: string
  text: string
  body: {
    monitor: Record<string, unknown> | null
    is_test: boolean
    signals?: unknown[]
    companies?: unknown[]
  }
  headers: Record<string, string | string[] | undefined>
}

/** A webhook of a user: a real server that keeps what was posted to it. Each signature is checked as it comes. */
export async function openReceiver() {
  const received: Received[] = []
  const answers: { status: number; text: string }[] = []
  let getOnly = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (getOnly && request.method !== 'GET') {
        return response.writeHead(405, { allow: 'GET' }).end('only GET is served here')
      }
      const text = Buffer.concat(chunks).toString('utf8')
      const { headers } = request
      const signature = createHmac('sha256', WEBHOOK_SECRET)
        .update(`${String(headers['x-sandbox-timestamp'])}.${text}`)
        .digest('hex')
      if (headers['x-sandbox-signature'] !== `v1=${signature}`) return response.writeHead(401).end('unsigned')
      received.push({
        id: String(headers['x-sandbox-delivery']),
        text,
        body: JSON.parse(text) as Received['body'],
        headers,
      })
      const { status, text: answer } = answers.shift() ?? { status: 200, text: 'thanks' }
      return response.writeHead(status).end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** Everything that was posted since the last call. */
    take: () => received.splice(0),
    /** Answers the next requests like this, then with 200 again. */
    answerNext: (...next: { status: number; text: string }[]) => void answers.push(...next),
    serveOnlyGet: (on: boolean) => void (getOnly = on),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the fields of a monitor that can be created as it is. */
export function monitorFields(change: object = {}) {
  return { name: 'Spain', detection_mode: 'signal_first', signal_types: ['expansions'], ...change }
}

export async function created(call: ReturnType<typeof createCaller>, change: object = {}) {
  const reply = await call('POST', '/monitors', monitorFields(change))
  expect(reply).toMatchObject({ status: 200 })
  return reply.body.data as { monitor_id: string; status: string }
}

/** Returns the number of monitors that the workspace has. */
export async function countMonitors(call: ReturnType<typeof createCaller>): Promise<number> {
  const { body } = await call('GET', '/monitors?per_page=1')
  return (body.data['pagination'] as { total_entries: number }).total_entries
}
