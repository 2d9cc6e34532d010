import { pino, type Logger } from 'pino'

export type Log = Logger

/** Headers that pay or sign in, the wallet's key and whatever could carry them: cut out wherever they would stand. */
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

/** JSON lines on standard error: standard output belongs to results. */
export function createLog(level: string): Log {
  const paths = secrets.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  return pino({ level, redact: { paths, remove: true } }, pino.destination({ fd: 2, sync: true }))
}
