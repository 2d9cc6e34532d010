import type { SSEStreamingApi } from 'hono/streaming'
import type { Markup } from './view/parts.ts'

/** Parts of a page by the id of the element that holds them. */
export type Regions = Record<string, Markup>

export interface LiveOptions {
  /** Undefined: the visitor may not see it any more, and the stream ends. */
  read: () => Promise<Regions | undefined>
  signal: AbortSignal
  /** At least so long between two readings. */
  everyMs: number
  onError: (error: unknown) => void
}

/** A reading that takes long comes more rarely, so that looking never costs more than a tenth of the time. */
const shareOfTime = 10
const keepAliveMs = 15_000

/**
 * Sends the parts of a page that have changed since they were last sent, until the visitor leaves. The first reading
 * sends everything: between the page and its stream something may have happened.
 */
export async function sendLive(stream: SSEStreamingApi, options: LiveOptions): Promise<void> {
  const sent = new Map<string, string>()
  const ended = new AbortController()
  const end = () => ended.abort()
  stream.onAbort(end)
  options.signal.addEventListener('abort', end, { once: true })
  if (options.signal.aborted) end()
  let lastSentMs = performance.now()
  try {
    while (!ended.signal.aborted) {
      const startedMs = performance.now()
      const regions = await options.read().catch((error: unknown) => {
        options.onError(error)
        return {} as Regions
      })
      if (!regions) {
        await stream.writeSSE({ event: 'signed-out', data: '' })
        return
      }
      for (const [id, markup] of Object.entries(regions)) {
        const html = String(await markup)
        if (sent.get(id) === html) continue
        sent.set(id, html)
        await stream.writeSSE({ event: 'region', data: JSON.stringify({ id, html }) })
        lastSentMs = performance.now()
      }
      if (performance.now() - lastSentMs > keepAliveMs) {
        await stream.writeSSE({ event: 'still', data: '' })
        lastSentMs = performance.now()
      }
      await pause(Math.max(options.everyMs, (performance.now() - startedMs) * shareOfTime), ended.signal)
    }
  } finally {
    options.signal.removeEventListener('abort', end)
  }
}

/** Readers of the same moment share one reading. */
export function shared<T>(read: () => Promise<T>, freshMs: number): () => Promise<T> {
  let last: { atMs: number; value: Promise<T> } | undefined
  return () => {
    if (!last || performance.now() - last.atMs > freshMs) {
      const value = read()
      const made = { atMs: performance.now(), value }
      last = made
      value.catch(() => {
        if (last === made) last = undefined
      })
    }
    return last.value
  }
}

/**
 * The last value that was read, at once, while a newer one is on its way when it is older than `freshMs`: what is slow to
 * answer holds up no page. Until the first answer it is waited for, `patienceMs` at most.
 */
export function latest<T>(
  read: () => Promise<T>,
  { freshMs, patienceMs }: { freshMs: number; patienceMs: number },
): () => Promise<T | undefined> {
  let last: { atMs: number; value: T } | undefined
  let reading: Promise<T | undefined> | undefined
  return async () => {
    if (!last || performance.now() - last.atMs > freshMs) {
      reading ??= read()
        .then((value) => {
          last = { atMs: performance.now(), value }
          return value
        })
        .catch(() => undefined)
        .finally(() => {
          reading = undefined
        })
    }
    if (last) return last.value
    return Promise.race([
      reading,
      new Promise<undefined>((resolve) => void setTimeout(resolve, patienceMs, undefined).unref()),
    ])
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
