import { setTimeout as delay } from 'node:timers/promises'

/** What Postgres says when it is shut down or starting, and what its driver says when there is nobody. */
const awayCodes = new Set([
  // Two transactions stood in each other's way, and this one was chosen to begin again.
  '40P01',
  '40001',
  '57P01',
  '57P02',
  '57P03',
  '08001',
  '08003',
  '08006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
])
const awayMessage =
  /connection (terminated|ended|closed)|timeout exceeded when trying to connect|not queryable/i

/**
 * Repeats a write while the database is away: a restart must not cost an answer that was paid for. The write must be one
 * that may be done twice, since a connection can break after the commit and before the word of it.
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
      await delay(everyMs, undefined, signal ? { signal } : {}).catch(() => {})
    }
  }
}

/** Whether an error says that the database is not there, rather than that it refuses. */
export function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return awayCodes.has(String(code)) || awayMessage.test(String(message))
}
