import { pino, type Logger } from 'pino'
import { printable } from '../../domain/values/printable.ts'

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

/** Logs JSON lines to standard error: standard output is for results. `onLine` is called before each line. */
export function createLog(level: string, { onLine = () => {} }: { onLine?: () => void } = {}): Log {
  const paths = secrets.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const standardError = pino.destination({ fd: 2, sync: true })
  return pino(
    { level, redact: { paths, remove: true } },
    {
      write(line) {
        onLine()
        standardError.write(printable(line))
      },
    },
  )
}
