import { PassThrough } from 'node:stream'
import { Agent, request } from 'undici'

/** A request as jsforce passes it to its transport. */
export interface WireRequest {
  method: string
  url: string
  body?: unknown
  headers?: Record<string, string>
}

export interface WireResponse {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** No complete answer came: it is unknown whether the request was carried out. */
export class NoAnswerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoAnswerError'
  }
}

export interface SalesforceTransport {
  /** Returns the answer, whatever its status. Throws NoAnswerError. */
  send(request: WireRequest): Promise<WireResponse>
  /** Returns the transport for jsforce. `onResponse` gets status and headers, which jsforce's errors lack. */
  forJsforce(onResponse: (response: WireResponse) => void): object
  close(): Promise<void>
}

/**
 * Sends jsforce's requests in place of its own transport, which waits 30 minutes for the head of an answer and forever
 * for its body, retries invisibly, and shares one pool of connections with the whole process. Never retries, never
 * follows a redirect.
 */
export function createTransport({ timeoutMs }: { timeoutMs: number }): SalesforceTransport {
  const agent = new Agent({ connections: 16, keepAliveTimeout: 30_000 })

  async function send({ method, url, body, headers }: WireRequest): Promise<WireResponse> {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await request(url, {
        dispatcher: agent,
        method: method as 'GET',
        headers: { 'user-agent': 'paydirt', ...headers },
        body: typeof body === 'string' ? body : null,
        signal: timeout,
      })
      return {
        statusCode: response.statusCode,
        headers: flatten(response.headers),
        body: await response.body.text(),
      }
    } catch (error) {
      const { origin } = new URL(url)
      const reason = timeout.aborted
        ? `${origin} did not answer within ${timeoutMs} ms`
        : `no answer from ${origin} (${(error as { code?: string }).code ?? (error as Error).message})`
      throw new NoAnswerError(reason, { cause: error })
    }
  }

  return {
    send,
    forJsforce: (onResponse) => ({
      httpRequest(wanted: WireRequest) {
        const answered = send(wanted).then((response) => {
          onResponse(response)
          return response
        })
        // jsforce also offers every answer as a stream, which is not used here.
        return Object.assign(answered, { stream: () => new PassThrough() })
      },
    }),
    close: () => agent.close(),
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
