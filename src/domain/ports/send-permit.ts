import type { Operation } from '../words.ts'

export type Lane = 'hot' | 'background'

/** Leave to send one request now. `done` must be called once, whatever came of it: the shared pace learns from it. */
export interface SendPermit {
  done(response: { status: number; headers: Record<string, string> } | undefined): Promise<void>
}

/** Waits for the next free place in the pace that all requests of its kind share. Throws RetriableError `paced` when the wait is not worth holding a worker for. */
export type AcquirePermit = (lane: Lane, operation: Operation) => Promise<SendPermit>
