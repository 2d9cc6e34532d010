import { Client } from '@hubspot/api-client'
import { Request } from '@hubspot/api-client/lib/src/services/http/Request.js'

export interface HubspotRequest {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string>
  body?: unknown
  /** A form instead of JSON; only for the token endpoint. */
  form?: Record<string, string>
}

export interface HubspotResponse {
  status: number
  headers: Headers
  /** Parsed JSON; undefined where the body is not JSON. */
  body: unknown
}

export type SendHubspot = (
  request: HubspotRequest,
  options: { token?: string | undefined; timeoutMs: number; signal?: AbortSignal | undefined },
) => Promise<HubspotResponse>

/**
 * The official client with an abortable `apiRequest`: the original passes no signal to fetch, so a call could be given
 * up but never ended. This one also avoids the decorators (limiter, retries), which all clients of a process share and
 * the last created client sets: pacing, retries and time-outs are ours.
 */
class AbortableClient extends Client {
  override apiRequest(
    options: Parameters<Client['apiRequest']>[0] & { signal?: AbortSignal } = {},
  ): Promise<Response> {
    const { signal, ...rest } = options
    const request = new Request(this.config, rest)
    return fetch(request.getUrl(), {
      ...request.getSendData(),
      redirect: 'error',
      ...(signal ? { signal } : {}),
    })
  }

  // The original sets the decorators of every client in the process; besides that it only resets caches.
  override init(): void {}
}

/**
 * Sends one request and returns the answer, whatever its status. Throws what fetch throws; a time-out is a
 * TimeoutError.
 */
export function createHubspotHttp(baseUrl: string): SendHubspot {
  const client = new AbortableClient({ basePath: baseUrl.replace(/\/+$/, ''), numberOfApiCallRetries: 0 })

  return async function send({ method, path, query, body, form }, { token, timeoutMs, signal }) {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await client.apiRequest({
      method,
      path,
      ...(query ? { qs: query } : {}),
      ...(body === undefined ? {} : { body }),
      ...(form ? { body: new URLSearchParams(form).toString(), defaultJson: false } : {}),
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
      },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parse(text) }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
