// A stand-in for the data service that costs as little as possible: it answers 402 and 200 in the right form with the
// sandbox's synthetic companies, and verifies nothing. It is also the chain's RPC, with a full wallet. Use it only to
// measure our own cost: it accepts payments that the real sandbox would check on a chain.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { createHash, randomBytes } from 'node:crypto'
import { companyAnswer } from '../src/sandbox/data/company.ts'
import type { RateLimit } from '../src/sandbox/faults/faults.ts'
import { createRateLimiter } from '../src/sandbox/faults/rate-limiter.ts'
import { readOrder, serveParent } from './child.ts'

export interface StubOrder {
  /** Duration of each answer. It is exact, so that it can be subtracted from a measured time. */
  latencyMs?: number
  limit?: RateLimit
}

export interface StubStats {
  requests: number
  challenged: number
  answered: number
  refused: number
}

const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const network = 'eip155:8453'
const order = readOrder<StubOrder>()
const limiter = createRateLimiter()
const stats: StubStats = { requests: 0, challenged: 0, answered: 0, refused: 0 }
const refusals = new Map<string, number>()
const arrivals = new Map<string, { askedAtMs: number; answeredAtMs: number }>()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => answer(request, Buffer.concat(chunks).toString(), response))
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  serveParent({
    url,
    stats: () => stats,
    /** When a company's profile was requested and answered, by the machine's clock. */
    times: (slug: string) => {
      const times = arrivals.get(slug)
      return times && { ...times, refused: refusals.get(slug) ?? 0 }
    },
  })
})

function url(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
  if (request.url === '/rpc') return rpc(body, response)
  // It knows nothing else: the account's use is asked for too.
  if (request.url !== '/companies/profnet/lookup') return void response.writeHead(404).end()
  stats.requests += 1
  if (order.limit && !limiter.admit(order.limit, performance.now())) {
    stats.refused += 1
    const refused = slugOf(profileOf(body))
    refusals.set(refused, (refusals.get(refused) ?? 0) + 1)
    response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":"Rate limit exceeded"}')
    return
  }
  const proof = request.headers['payment-signature'] ?? request.headers['x-payment']
  if (proof === undefined && request.headers['x-api-key'] === undefined) return challenge(request, response)
  const profile = profileOf(body)
  const askedAtMs = Date.now()
  setTimeout(() => {
    stats.answered += 1
    arrivals.set(slugOf(profile), { askedAtMs, answeredAtMs: Date.now() })
    if (arrivals.size > 10_000) arrivals.delete(arrivals.keys().next().value as string)
    const data = JSON.stringify(companyAnswer(profile))
    response
      .writeHead(200, { 'content-type': 'application/json', ...(proof === undefined ? {} : receipt()) })
      .end(data)
  }, order.latencyMs ?? 0)
}

function profileOf(body: string): string {
  return String((JSON.parse(body) as Record<string, unknown>)['profnet_url'])
}

/** A profile has one slug under whatever host the request names it. */
function slugOf(profile: string): string {
  return profile.split('/').at(-1) ?? profile
}

function challenge(request: IncomingMessage, response: ServerResponse): void {
  stats.challenged += 1
  const accepted = {
    scheme: 'exact',
    network,
    amount: '10000',
    asset: usdc,
    payTo: '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0',
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  }
  const terms = {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: `${url()}${request.url ?? ''}`, description: '', mimeType: 'application/json' },
    accepts: [accepted],
  }
  const header = encodePaymentRequiredHeader(terms as Parameters<typeof encodePaymentRequiredHeader>[0])
  response.writeHead(402, { 'payment-required': header, 'content-type': 'application/json' }).end('{}')
}

function receipt(): Record<string, string> {
  const transaction = `0x${createHash('sha256').update(randomBytes(8)).digest('hex')}`
  return {
    'payment-response': encodePaymentResponseHeader({
      success: true,
      transaction,
      network,
    } as Parameters<typeof encodePaymentResponseHeader>[0]),
  }
}

function rpc(body: string, response: ServerResponse): void {
  const { id, method } = JSON.parse(body) as { id: number; method: string }
  const result =
    method === 'eth_chainId'
      ? '0x2105'
      : method === 'eth_call'
        ? `0x${(10n ** 15n).toString(16).padStart(64, '0')}`
        : '0x0'
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}
