import { isAway } from '../../../store/database/retry-while-away.ts'
import { createPrompt } from './readings.ts'

/** Tells a database that does not respond from a question that takes long. */
export interface StoreWatch {
  /**
   * Resolves with the work, or rejects with `StoreAwayError` as soon as the database turns out not to respond. The work of a
   * slow database may take as long as it likes.
   */
  guard<T>(work: Promise<T>): Promise<T>
}

export class StoreAwayError extends Error {
  constructor(options?: ErrorOptions) {
    super('the database does not respond', options)
  }
}

/** Most work ends before this time, and costs no extra question. */
const firstAskMs = 100
const askEveryMs = 1_000
const patienceMs = 1_000

/** Without `ping` the database is in this process: it cannot be away, and its one connection may be busy for longer. */
export function createStoreWatch(ping: (() => Promise<void>) | undefined): StoreWatch {
  const ask = ping && createPrompt(ping, patienceMs)

  return {
    async guard(work) {
      const ended = new AbortController()
      try {
        return await (ask ? Promise.race([work, untilAway(ask, ended.signal)]) : work)
      } catch (error) {
        throw isAway(error) ? new StoreAwayError({ cause: error }) : error
      } finally {
        ended.abort()
        work.catch(() => {})
      }
    },
  }
}

/** Rejects when the database does not respond, and never resolves. */
function untilAway(ask: () => Promise<void>, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    let timer = setTimeout(look, firstAskMs)
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    function look(): void {
      ask().then(
        () => {
          if (!signal.aborted) timer = setTimeout(look, askEveryMs)
        },
        (error: unknown) => reject(new StoreAwayError({ cause: error })),
      )
    }
  })
}
