import { setTimeout as delay } from 'node:timers/promises'
import { isOfPreparation } from './postgres/preparation-errors.ts'

/** The codes of Postgres while it shuts down or starts, and of its driver when there is no connection. */
const awayCodes = new Set([
  // Deadlock and serialisation failure: Postgres rolled this transaction back, and it may be repeated.
  '40P01',
  '40001',
  // A lock was not had in time: the transaction is rolled back too.
  '55P03',
  // The server ended an idle transaction, or takes no writes since another has become the primary.
  '25P03',
  '25006',
  '57P01',
  '57P02',
  '57P03',
  '08001',
  '08003',
  '08006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
])
/** The messages of pgbouncer, whose one code for every trouble is a protocol violation. */
const poolerMessage =
  /server conn crashed|query_wait_timeout|cannot connect to server|server login has been failing|server closed the connection|database does not allow connections/i
const awayMessage =
  /connection (terminated|ended|closed)|timeout exceeded when trying to connect|^timeout expired$|query read timeout|not queryable/i

/**
 * Repeats a write while the database is away, because a restart must not lose a paid answer. The write must be repeatable:
 * a connection can break after the commit and before its confirmation.
 */
export async function retryWhileAway<T>(
  write: () => Promise<T>,
  {
    forMs = 12_000,
    everyMs = 250,
    signal,
  }: { forMs?: number; everyMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const until = performance.now() + forMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isAway(error) || signal?.aborted || performance.now() > until) throw error
      await delay(everyMs, undefined, { signal }).catch(() => {})
    }
  }
}

/** Returns true for an error that says that the database is away, or the connection of no use, and not that it refused the statement. */
export function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return (
    awayCodes.has(String(code)) ||
    awayMessage.test(String(message)) ||
    isOfPreparation(error) ||
    (code === '08P01' && poolerMessage.test(String(message)))
  )
}
