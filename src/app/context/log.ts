import { isatty } from 'node:tty'
import { isSpanContextValid, trace } from '@opentelemetry/api'
import { pino, type Logger } from 'pino'
import { printable } from '../../domain/values/printable.ts'
import { logFields } from '../../timing/log-scope.ts'
import type { LogConfig, LogModule } from '../config/observing/log.ts'

export type Log = Logger

/** Headers that pay or sign in, the wallet's key, and objects that could contain them: removed from every log line. */
const secrets = [
  'authorization',
  'x-payment',
  'payment-signature',
  'payment',
  'signature',
  'walletKey',
  'apiKey',
  'headers',
  'body',
  'answer',
]

/** A reader that has stopped may cost this much memory; what comes after is dropped and counted. */
const mostBufferedBytes = 16 * 1024 * 1024

/** A reader that has stopped may hold up the end of the process for so long. */
const lastFlushMs = 2_000

/**
 * Logs JSON lines to standard error: standard output is for results. `onLine` is called before each line. A line names the
 * work in which it is written, and the trace.
 */
export function createLog(
  { level, modules }: LogConfig,
  {
    onLine = () => {},
    write = standardError(),
  }: { onLine?: () => void; write?: (line: string) => void } = {},
): Log {
  const paths = secrets.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  return pino(
    {
      level,
      redact: { paths, remove: true },
      mixin: workInHand,
      // A part's own level holds for its lines, whatever the level of all others.
      onChild(child) {
        const own = modules[child.bindings()['module'] as LogModule]
        if (own !== undefined) child.level = own
      },
    },
    {
      write(line) {
        onLine()
        write(printable(line))
      },
    },
  )
}

/** Returns the log of one part, whose level the settings may name. */
export function moduleLog(log: Log, module: LogModule): Log {
  return log.child({ module })
}

function workInHand(): object {
  const span = trace.getActiveSpan()?.spanContext()
  return span && isSpanContextValid(span) ? { ...logFields(), traceId: span.traceId } : logFields()
}

let opened: ((line: string) => void) | undefined

/**
 * Opens standard error once for the process. Lines are written in the background, so that a slow reader does not hold up the
 * event loop. The end of the process writes what is left at once: exit, an uncaught error, and a signal. A terminal is
 * written at once, because progress is drawn on it too.
 */
function standardError(): (line: string) => void {
  if (opened) return opened
  // With a length, `flush` waits for the write under way; each line is longer, and is written at once.
  const destination = pino.destination({ fd: 2, sync: isatty(2), minLength: 1, maxLength: mostBufferedBytes })
  let dropped = 0
  destination.on('drop', () => dropped++)
  // A reader that has gone away must not end the work.
  destination.on('error', () => {})
  function flush(): void {
    try {
      destination.flushSync()
    } catch {
      // The reader has gone away.
    }
  }
  process.on('exit', flush)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    // Before the others, so that those that listen once are still counted.
    process.prependOnceListener(signal, () => {
      // Without another listener the signal would have ended the process.
      const isAlone = process.listenerCount(signal) === 0
      // A write may be under way in the background: writing the rest at once beside it would break a line.
      const late = setTimeout(end, lastFlushMs)
      destination.flush(end)
      function end(): void {
        clearTimeout(late)
        flush()
        if (isAlone) process.kill(process.pid, signal)
      }
    })
  }
  opened = (line) => {
    if (dropped > 0) {
      const lines = dropped
      dropped = 0
      destination.write(`{"level":40,"time":${Date.now()},"lines":${lines},"msg":"log lines were dropped"}\n`)
    }
    destination.write(line)
  }
  return opened
}
