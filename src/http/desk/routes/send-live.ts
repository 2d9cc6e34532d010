import type { SSEStreamingApi } from 'hono/streaming'
import type { Markup } from '../view/parts.ts'

/** The parts of a page that update live, by the id of the element that holds each. */
export type Regions = Record<string, Markup>

export interface LiveOptions {
  /** Resolves to undefined when the visitor has lost access; the stream then ends. */
  read: () => Promise<Regions | undefined>
  signal: AbortSignal
  /** The shortest time between two readings. */
  everyMs: number
  /** Calls back when the parts are to be read at once. */
  onChange: (listener: () => void, signal: AbortSignal) => void
  onError: (error: unknown) => void
}

/** Slow readings are spaced further apart, so that reading takes at most a tenth of the time. */
const shareOfTime = 10
const keepAliveMs = 15_000

/**
 * Sends each part of a page when it has changed since it was last sent, until the visitor leaves. The first reading sends
 * every part, because the page may have changed before its stream was opened.
 */
export async function sendLive(stream: SSEStreamingApi, options: LiveOptions): Promise<void> {
  const sent = new Map<string, string>()
  const ended = new AbortController()
  const end = () => ended.abort()
  stream.onAbort(end)
  options.signal.addEventListener('abort', end, { once: true })
  if (options.signal.aborted) end()
  let lastSentMs = performance.now()
  let isUrgent = false
  let wake = () => {}
  options.onChange(() => {
    isUrgent = true
    wake()
  }, ended.signal)
  try {
    while (!ended.signal.aborted) {
      const startedMs = performance.now()
      isUrgent = false
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
      const pauseMs = Math.max(options.everyMs, (performance.now() - startedMs) * shareOfTime)
      if (!isUrgent) await pause(pauseMs, ended.signal, (end) => (wake = end))
    }
  } finally {
    options.signal.removeEventListener('abort', end)
  }
}

function pause(ms: number, signal: AbortSignal, onBegin: (end: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    onBegin(done)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
