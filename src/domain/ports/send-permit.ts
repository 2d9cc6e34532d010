import type { Operation } from '../words.ts'

export type Lane = 'hot' | 'background'

/** Permission to send one request now. `done` must be called once, after any outcome: the shared pacer learns from it. */
export interface SendPermit {
  /**
   * Resolves when the request may go onto the wire; called directly before it does. Requests that became ready as a group wait for
   * each other, 300 ms at most, and for the end of a pause that a refusal began, 700 ms at most. Where the service is known to serve so
   * many requests at once and no more, it waits until one of them has ended.
   */
  ready(): Promise<void>
  done(response: { status: number; headers: Record<string, string> } | undefined): Promise<void>
}

/**
 * Waits for the next permit of the pacer that all requests of its kind share. Throws RetriableError `paced` when the wait
 * is too long to occupy a worker.
 */
export type AcquirePermit = (lane: Lane, operation: Operation) => Promise<SendPermit>
