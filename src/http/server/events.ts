import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { HttpEnv } from './request-id.ts'
import { Problem } from './problem.ts'

const heartbeatMs = 15_000
/** Each stream holds a socket and a place in the watch. */
const mostStreams = 500

/** Server-sent events of this process; no more at once than it can carry. */
export interface EventStreams {
  /** `begin` sends what it likes until it calls `end`; what it answers is called when the stream is over. */
  open(
    context: Context<HttpEnv>,
    begin: (stream: { send: (event: string, data: unknown) => void; end: () => void }) => () => void,
  ): Response
}

export function createEventStreams(stopping: AbortSignal): EventStreams {
  let open = 0
  return {
    open(context, begin) {
      // Nobody reads a body after it, so nothing would ever tell that its reader is gone.
      if (context.req.method === 'HEAD')
        return new Response(null, { headers: { 'content-type': 'text/event-stream' } })
      if (open >= mostStreams)
        throw new Problem(
          503,
          'too_many_streams',
          'too many streams are open here; ask for the state instead',
          {
            headers: { 'retry-after': '10' },
          },
        )
      open += 1
      context.header('x-accel-buffering', 'no')
      return streamSSE(context, async (stream) => {
        const { promise: over, resolve: end } = Promise.withResolvers<void>()
        // In order, whoever sends: one event after the other.
        let last: Promise<unknown> = Promise.resolve()
        const write = (text: string) => {
          last = last.then(() => stream.write(text)).catch(end)
        }
        const beat = setInterval(() => write(': still here\n\n'), heartbeatMs)
        const onStop = () => end()
        stopping.addEventListener('abort', onStop, { once: true })
        stream.onAbort(end)
        let leave: (() => void) | undefined
        try {
          leave = begin({
            send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
            end,
          })
          if (stopping.aborted) end()
          await over
        } finally {
          // The place first: what is left to write may never be read.
          open -= 1
          clearInterval(beat)
          stopping.removeEventListener('abort', onStop)
          leave?.()
        }
        await last
      })
    },
  }
}

export function wantsEvents(context: Context<HttpEnv>): boolean {
  return (context.req.header('accept') ?? '').includes('text/event-stream')
}
