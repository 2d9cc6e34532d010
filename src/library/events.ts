import { closedError } from './held-context.ts'
import type { PaydirtEvent } from './types.ts'

/** The most events that wait for a slow reader; then a newer progress takes the place of an older one. */
const mostWaiting = 1_000

/** Passes the events on to all who read them. */
export interface Events {
  emit(event: PaydirtEvent): void
  read(signal: AbortSignal | undefined): AsyncIterable<PaydirtEvent>
  close(): void
}

export function createEvents(): Events {
  const readers = new Set<Reader>()
  let isClosed = false
  return {
    emit(event) {
      for (const reader of readers) reader.put(event)
    },
    read(signal) {
      if (isClosed) throw closedError()
      // From the call, not from the first `next`: work that begins between the two is seen.
      const reader = createReader(() => readers.delete(reader))
      readers.add(reader)
      if (signal?.aborted) reader.end()
      signal?.addEventListener('abort', reader.end, { once: true })
      return reader
    },
    close() {
      isClosed = true
      for (const reader of readers) reader.end()
    },
  }
}

interface Reader extends AsyncIterableIterator<PaydirtEvent> {
  put(event: PaydirtEvent): void
  end(): void
}

function createReader(onEnd: () => void): Reader {
  const waiting: PaydirtEvent[] = []
  let ended = false
  let wake = Promise.withResolvers<void>()
  function end(): void {
    ended = true
    onEnd()
    wake.resolve()
  }
  return {
    put(event) {
      if (waiting.length >= mostWaiting) {
        const old = waiting.findIndex(({ type }) => type === 'progress')
        waiting.splice(Math.max(old, 0), 1)
      }
      waiting.push(event)
      wake.resolve()
    },
    end,
    async next() {
      for (;;) {
        const value = waiting.shift()
        if (value) return { value, done: false }
        if (ended) return { value: undefined, done: true }
        await wake.promise
        wake = Promise.withResolvers()
      }
    },
    async return() {
      waiting.length = 0
      end()
      return { value: undefined, done: true }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
