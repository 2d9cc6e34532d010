import { execFileSync } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { postWebhook, WEBHOOK_SECRET } from '../../src/sandbox/monitors/post-webhook.ts'
import { CallRefused } from '../../src/http/server/caller.ts'
import { checkDeliverySignature, type DeliverySignature } from '../../src/http/callers/delivery-signature.ts'

const at = new Date('2026-11-20T12:00:00Z')
const seconds = String(at.getTime() / 1_000)
const body = '{"signals":[{"title":"Café\\u0000 – 東京"}]}'
const secret = 'yyyyyyyy-yyyy-yyyy'
const plain: DeliverySignature = {
  header: 'x-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  toleranceMs: 300_000,
}
const timed = { ...plain, prefix: 'v1=', timestampHeader: 'x-timestamp' }

/** Signs with openssl, which knows nothing of this code. */
function openssl(algorithm: string, key: string, text: string): Buffer {
  const output = execFileSync('openssl', ['dgst', `-${algorithm}`, '-hmac', key, '-binary'], { input: text })
  return output
}

function codeOf(
  settings: DeliverySignature,
  headers: Record<string, string>,
  more: { body?: string; now?: Date; secret?: string | undefined } = {},
) {
  const request = { method: 'POST', uri: 'x', headers: new Headers(headers), body: more.body ?? body }
  try {
    checkDeliverySignature(request, settings, {
      secret: 'secret' in more ? more.secret : secret,
      now: () => more.now ?? at,
    })
    return 'accepted'
  } catch (error) {
    return error instanceof CallRefused ? error.code : String(error)
  }
}

test.each([
  ['sha256', 'hex'],
  ['sha512', 'base64'],
  ['sha1', 'hex'],
] as const)('a body that openssl signed with %s in %s is accepted', (algorithm, encoding) => {
  const settings = { ...plain, algorithm, encoding, prefix: `${algorithm}=` }
  const signature = `${algorithm}=${openssl(algorithm, secret, body).toString(encoding)}`
  expect(codeOf(settings, { 'x-signature': signature })).toBe('accepted')
  expect(codeOf(settings, { 'x-signature': signature }, { body: `${body} ` })).toBe('monitor_wrong_signature')
  expect(codeOf(settings, { 'x-signature': signature.slice(algorithm.length + 1) })).toBe(
    'monitor_wrong_signature',
  )
  expect(codeOf(settings, {})).toBe('monitor_unsigned')
  expect(codeOf(settings, { 'x-signature': signature }, { secret: undefined })).toBe('monitor_not_set_up')
})

test('a signed time is held against the clock, and cannot be changed', () => {
  const headers = {
    'x-timestamp': seconds,
    'x-signature': `v1=${openssl('sha256', secret, `${seconds}.${body}`).toString('hex')}`,
  }
  const away = (ms: number) => codeOf(timed, headers, { now: new Date(at.getTime() + ms) })
  expect([0, 300_000, -300_000].map(away)).toEqual(['accepted', 'accepted', 'accepted'])
  expect([300_001, -300_001].map(away)).toEqual(['monitor_stale', 'monitor_future'])
  expect(codeOf(timed, { ...headers, 'x-timestamp': String(Number(seconds) + 1) })).toBe(
    'monitor_wrong_signature',
  )
  expect(codeOf(timed, { 'x-signature': headers['x-signature'] })).toBe('monitor_no_timestamp')
  const odd = {
    'x-timestamp': 'soon',
    'x-signature': `v1=${openssl('sha256', secret, `soon.${body}`).toString('hex')}`,
  }
  expect(codeOf(timed, odd)).toBe('monitor_stale')
})

test('a delivery of the sandbox is signed as openssl signs it, and accepted', async () => {
  const received = Promise.withResolvers<{ headers: IncomingHttpHeaders; text: string }>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.resolve({ headers: request.headers, text: Buffer.concat(chunks).toString() })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const stopped = new AbortController().signal
    await postWebhook({ url, headers: {} }, { id: 'd1', body, at }, { timeoutMs: 5_000, stopped })
    const { headers, text } = await received.promise
    const given = {
      'x-signature': String(headers['x-sandbox-signature']),
      'x-timestamp': String(headers['x-sandbox-timestamp']),
    }
    expect(given['x-signature']).toBe(
      `v1=${openssl('sha256', WEBHOOK_SECRET, `${seconds}.${text}`).toString('hex')}`,
    )
    expect(codeOf(timed, given, { body: text, secret: WEBHOOK_SECRET })).toBe('accepted')
  } finally {
    server.close()
  }
})
