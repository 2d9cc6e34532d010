import { createPrompt } from './readings.ts'

/** Tells open pages at once when a source begins or ceases to respond, however rarely they are read. */
export interface Heartbeat {
  /** The sources that responded last, as a text to compare. */
  state(): string
  /** Calls back at each change until the signal aborts. */
  onChange(listener: () => void, signal: AbortSignal): void
}

const everyMs = 300
const patienceMs = 400

/** Asks the sources while somebody listens, and not otherwise. */
export function createHeartbeat(pings: readonly (() => Promise<unknown>)[]): Heartbeat {
  const asks = pings.map((ping) => createPrompt(ping, patienceMs))
  const listeners = new Set<() => void>()
  let state = 'unknown'
  let timer: NodeJS.Timeout | undefined

  async function beat(): Promise<void> {
    const signs = await Promise.all(
      asks.map((ask) =>
        ask().then(
          () => true,
          () => false,
        ),
      ),
    )
    const seen = signs.join()
    const isChange = seen !== state && state !== 'unknown'
    state = seen
    if (isChange) for (const listener of listeners) listener()
    timer = listeners.size > 0 ? setTimeout(() => void beat(), everyMs).unref() : undefined
    if (!timer) state = 'unknown'
  }

  return {
    state: () => state,
    onChange(listener, signal) {
      if (asks.length === 0 || signal.aborted) return
      const isFirst = listeners.size === 0 && timer === undefined
      listeners.add(listener)
      signal.addEventListener('abort', () => listeners.delete(listener), { once: true })
      if (isFirst) timer = setTimeout(() => void beat(), 0).unref()
    },
  }
}
