import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { HttpEnv } from './request-id.ts'
import { Problem } from './problem.ts'

const heartbeatMs = 15_000
/** Each stream uses a socket and an entry in the watch. */
const mostStreams = 500

/** The server-sent event streams of this process, limited in number. */
export interface EventStreams {
  /** `begin` sends events until it calls `end`. It returns a function that is called when the stream is over. */
  open(
    context: Context<HttpEnv>,
    begin: (stream: { send: (event: string, data: unknown) => void; end: () => void }) => () => void,
  ): Response
}

export function createEventStreams(stopping: AbortSignal): EventStreams {
  let open = 0
  return {
    open(context, begin) {
      // A HEAD response has no reader whose leaving could end the stream.
      if (context.req.method === 'HEAD')
        return new Response(null, { headers: { 'content-type': 'text/event-stream' } })
      if (open >= mostStreams)
        throw new Problem(503, 'too_many_streams', 'too many open streams; poll the state instead', {
          headers: { 'retry-after': '10' },
        })
      open += 1
      context.header('x-accel-buffering', 'no')
      return streamSSE(context, async (stream) => {
        const { promise: over, resolve: end } = Promise.withResolvers<void>()
        // Writes are chained, so that events stay in order.
        let last: Promise<unknown> = Promise.resolve()
        const write = (text: string) => {
          last = last.then(() => stream.write(text)).catch(end)
        }
        const beat = setInterval(() => write(': still here\n\n'), heartbeatMs)
        const onStop = () => end()
        stopping.addEventListener('abort', onStop, { once: true })
        stream.onAbort(end)
        let onEnd: (() => void) | undefined
        try {
          onEnd = begin({
            send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
            end,
          })
          if (stopping.aborted) end()
          await over
        } finally {
          // Free the slot first: the remaining writes may never be read.
          open -= 1
          clearInterval(beat)
          stopping.removeEventListener('abort', onStop)
          onEnd?.()
        }
        await last
      })
    },
  }
}

export function wantsEvents(context: Context<HttpEnv>): boolean {
  return (context.req.header('accept') ?? '').includes('text/event-stream')
}
