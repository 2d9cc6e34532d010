import { Agent, errors } from 'undici'
import { errorCode } from '../domain/error-codes.ts'
import { RetriableError } from '../domain/errors.ts'
import type { ResponseHead } from '../domain/payment.ts'
import type { Send, ServiceRequest } from '../domain/ports/transport.ts'
import { networkWord } from '../domain/words.ts'
import { closeCutJson } from './cut-json.ts'
import { readResponse, TimedOutError } from './read-response.ts'

export interface BinaryResponse {
  status: number
  headers: Record<string, string>
  bytes: Buffer
  /** True when the body was longer, and only its beginning was read. */
  isCut?: boolean
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

/**
 * The most that is read of an answer. Honest ones have some kilobytes, a batch of a hundred some hundreds. What is longer is
 * cut here, so that a server cannot fill the memory of a process that has sixty requests under way.
 */
export const maxAnswerBytes = 2 * 1024 * 1024
/** A challenge has at most 16 kB, and of an error only a code is read. */
const maxRefusalBytes = 64 * 1024
/** Room for a challenge that is too long, so that it can be refused by name. */
const maxHeaderBytes = 64 * 1024

/** The only place that sends bytes to the service. Connections stay open and are shared by all lookups of a process. */
export function createTransport(options: TransportOptions): Transport {
  const agent = new Agent({
    connections: options.connections ?? 64,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    maxHeaderSize: maxHeaderBytes,
  })
  const toWire = wordSwap(networkWord, options.networkName)
  const fromWire = wordSwap(options.networkName, networkWord)

  async function sendForBytes(request: ServiceRequest): Promise<BinaryResponse> {
    const url = new URL(request.url)
    try {
      return await readResponse(
        agent,
        {
          origin: url.origin,
          path: toWire.path(url.pathname) + url.search,
          method: request.method,
          headers: { 'user-agent': options.userAgent, ...request.headers },
          body: request.body === undefined ? null : toWire.json(request.body),
        },
        {
          timeoutMs: request.timeoutMs,
          signal: request.signal,
          mostBytes: (status) => (isSuccess(status) ? maxAnswerBytes : maxRefusalBytes),
        },
      )
    } catch (error) {
      throw unanswered(error, url, request)
    }
  }

  return {
    sendForBytes,
    wireBody: toWire.json,
    async send(request) {
      const { bytes, isCut, ...head } = await sendForBytes(request)
      const body = fromWire.json(bytes.toString('utf8'))
      if (!isCut || !isSuccess(head.status)) return { ...head, body } satisfies ResponseHead
      // It was paid for: what is complete in it is kept.
      return { ...head, body: closeCutJson(body) ?? body, cutAfterBytes: maxAnswerBytes }
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

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

function unanswered(error: unknown, url: URL, request: ServiceRequest): Error {
  const details = { origin: url.origin, path: url.pathname }
  if (
    error instanceof TimedOutError ||
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
  if (error instanceof errors.HeadersOverflowError) {
    const message = `the headers of the answer from ${url.origin} are larger than ${maxHeaderBytes} bytes`
    return new RetriableError('headers_too_large', message, { details, cause: error })
  }
  const reason = (error as { code?: string }).code ?? (error as Error).message
  return new RetriableError(errorCode.unreachable, `no answer from ${url.origin} (${reason})`, {
    details,
    cause: error,
  })
}
