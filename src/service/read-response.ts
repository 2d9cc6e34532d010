import type { Agent, Dispatcher } from 'undici'

/** A response as it came: header names in lower case, and of its body as much as was asked for. */
export interface RawResponse {
  status: number
  headers: Record<string, string>
  bytes: Buffer
  /** True when the body was longer, and only its beginning was read. */
  isCut: boolean
}

export interface ReadLimits {
  /** The whole request, from the first byte sent to the last one read. */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** The most bytes that are read of the body of a response with this status. The connection of a longer one is closed. */
  mostBytes: (status: number) => number
}

/** The request took longer than it may. */
export class TimedOutError extends Error {}

/**
 * Sends a request and reads its response. Undici's own `request` makes a stream of each body, and an abort signal is made for
 * each time-out: both cost more processor time than the request itself.
 */
export function readResponse(
  agent: Agent,
  options: Dispatcher.DispatchOptions,
  { timeoutMs, signal, mostBytes }: ReadLimits,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let controller: Dispatcher.DispatchController | undefined
    let ended = false
    let status = 0
    let headers: Record<string, string> = {}
    let left = 0
    const timer = setTimeout(() => stop(new TimedOutError('timed out')), timeoutMs)
    const onAbort = () => stop(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))

    function end(): boolean {
      if (ended) return false
      ended = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      return true
    }

    function stop(reason: Error): void {
      if (!end()) return
      reject(reason)
      controller?.abort(reason)
    }

    function answer(isCut: boolean): void {
      const [only = Buffer.alloc(0)] = chunks
      const bytes = chunks.length > 1 ? Buffer.concat(chunks) : only
      if (end()) resolve({ status, headers, bytes, isCut })
    }

    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    agent.dispatch(options, {
      onRequestStart(started) {
        controller = started
        // It was stopped while it waited for a connection: nothing of it has left.
        if (ended) started.abort(new Error('aborted'))
      },
      onResponseStart(_, code, fields) {
        if (code < 200) return
        status = code
        headers = flatten(fields)
        left = mostBytes(code)
      },
      onResponseData(started, chunk) {
        if (ended) return
        chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
        left -= chunk.length
        if (left >= 0) return
        answer(true)
        started.abort(new Error('the body is too long'))
      },
      onResponseEnd: () => answer(false),
      onResponseError: (_, error) => stop(error),
    })
  })
}

function flatten(fields: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}
