import { Agent, errors, type Dispatcher } from 'undici'
import { errorCode } from '../domain/error-codes.ts'
import { RetriableError } from '../domain/errors.ts'
import type { ResponseHead } from '../domain/payment.ts'
import type { Send, ServiceRequest } from '../domain/ports/transport.ts'
import { networkWord } from '../domain/words.ts'

export interface BinaryResponse {
  status: number
  headers: Record<string, string>
  bytes: Buffer
}

export interface Transport {
  send: Send
  sendForBytes: (request: ServiceRequest) => Promise<BinaryResponse>
  /** Returns a JSON body exactly as it is sent. A digest is computed over these bytes. */
  wireBody: (body: string) => string
  close: () => Promise<void>
}

export interface TransportOptions {
  /** The exact `User-Agent` header. The edge blocks generic ones (service.md, 5.8). */
  userAgent: string
  /** The word that the real service uses where this code says `profnet`. */
  networkName: string
  connections?: number
}

const maxAnswerBytes = 16 * 1024 * 1024

/** The only place that sends bytes to the service. Connections stay open and are shared by all lookups of a process. */
export function createTransport(options: TransportOptions): Transport {
  const agent = new Agent({ connections: options.connections ?? 64, pipelining: 1, keepAliveTimeout: 30_000 })
  const toWire = wordSwap(networkWord, options.networkName)
  const fromWire = wordSwap(options.networkName, networkWord)

  async function sendForBytes(request: ServiceRequest): Promise<BinaryResponse> {
    const url = new URL(request.url)
    const timeout = AbortSignal.timeout(request.timeoutMs)
    try {
      const response = await agent.request({
        origin: url.origin,
        path: toWire.path(url.pathname) + url.search,
        method: request.method,
        headers: { 'user-agent': options.userAgent, ...request.headers },
        body: request.body === undefined ? null : toWire.json(request.body),
        signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
      })
      return {
        status: response.statusCode,
        headers: flatten(response.headers),
        bytes: await readAtMost(response.body, maxAnswerBytes),
      }
    } catch (error) {
      throw unanswered(error, url, request, timeout)
    }
  }

  return {
    sendForBytes,
    wireBody: toWire.json,
    async send(request) {
      const { bytes, ...head } = await sendForBytes(request)
      return { ...head, body: fromWire.json(bytes.toString('utf8')) } satisfies ResponseHead
    },
    close: () => agent.close(),
  }
}

/** Replaces the network's word in path segments and in the names of JSON fields. Values stay as they are. */
function wordSwap(
  from: string,
  to: string,
): { path: (text: string) => string; json: (text: string) => string } {
  if (from === to) return { path: (text) => text, json: (text) => text }
  const inPath = new RegExp(`(?<=/)${from}(?=/|$)`, 'g')
  const inName = new RegExp(`(?<=")((?:[a-z0-9]+_)*)${from}((?:_[a-z0-9]+)*)(?="\\s*:)`, 'g')
  return {
    path: (text) => text.replace(inPath, to),
    json: (text) => text.replace(inName, `$1${to}$2`),
  }
}

async function readAtMost(body: Dispatcher.ResponseData['body'], limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new RetriableError('answer_too_large', `the answer is larger than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unanswered(error: unknown, url: URL, request: ServiceRequest, timeout: AbortSignal): Error {
  if (error instanceof RetriableError) return error
  const details = { origin: url.origin, path: url.pathname }
  if (
    timeout.aborted ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  ) {
    return new RetriableError(
      errorCode.timeout,
      `${url.origin} did not answer within ${request.timeoutMs} ms`,
      {
        details,
        cause: error,
      },
    )
  }
  const reason = (error as { code?: string }).code ?? (error as Error).message
  return new RetriableError(errorCode.unreachable, `no answer from ${url.origin} (${reason})`, {
    details,
    cause: error,
  })
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
