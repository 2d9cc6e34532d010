import type { z } from 'zod'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'

/**
 * An endpoint that answers many lookups with one HTTP request. The request of a single lookup is one entry here, so a
 * lookup that waits in the ledger can be sent either way.
 */
export interface BatchEndpoint<Entry = unknown, Shared = unknown> {
  operation: Operation
  timeoutMs: number
  /** Maximum number of entries in one request. */
  max: number
  /**
   * Schema of one entry as it is sent. An entry that it refuses must not be sent: the service would search without a
   * criterion.
   */
  entry: z.ZodType<Entry>
  /** Schema of the values that are sent once beside the entries. */
  shared: z.ZodType<Shared>
  /** Splits a single request into its two parts, unchecked. Undefined: this one can only be sent alone. */
  split: (
    request: Record<string, unknown>,
  ) => { entry: Record<string, unknown>; shared: Record<string, unknown> } | undefined
  /** Two entries with the same identity are the same input: it is sent once, and both get its fact. */
  identity: (entry: Entry) => string
  body: (entries: readonly Entry[], shared: Shared) => Record<string, unknown>
  /** Returns the entries of a body that was sent earlier, in its order. Called to resume a charge of the journal. */
  entriesOf: (body: unknown) => Entry[]
  /** Returns a name for requests of the same price. Terms are remembered for each. */
  priceClass: (entries: readonly Entry[], shared: Shared) => string
  /**
   * Reads the body of a 200 and returns one fact for each entry, by its position in the request. Never throws. An
   * answer that was paid for and cannot be read or assigned is `unreadable`, never `not_found`.
   */
  decode: (body: string, entries: readonly Entry[]) => Map<number, Fact>
}

/** A batch request whose answer is deferred. Another process may request the answer, also after a crash. */
export interface DeferredEndpoint<Entry = unknown, Shared = unknown> extends BatchEndpoint<Entry, Shared> {
  /** Reads the first response. Undefined when it names nothing to poll: then it was paid for and cannot be read. */
  started: (body: string) => StartedQuery | undefined
  query: {
    timeoutMs: number
    body: (queryId: string) => Record<string, unknown>
  }
}

export interface StartedQuery {
  /** Id under which the answer is requested. Empty when the answer came immediately. */
  queryId: string
  isCompleted: boolean
  /** The service's estimate of the remaining time; undefined when it gives none. */
  estimatedMs: number | undefined
}

/** Returns a fact for every entry of an unreadable answer. The raw body is stored once, with the first entry. */
export function allUnreadable(count: number, raw: string, problem: string): Map<number, Fact> {
  return new Map(
    Array.from({ length: count }, (_, index): [number, Fact] => [
      index,
      { outcome: 'unreadable', data: index === 0 ? { raw, problem } : { problem, raw_kept_with: 0 } },
    ]),
  )
}
