import type { z } from 'zod'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { EndpointName } from './paths.ts'

/**
 * An endpoint of which one HTTP request answers many lookups. What the single endpoint of the same operation would take
 * as its request is one entry here, so a lookup waiting in the ledger can be sent either way.
 */
export interface BatchEndpoint<Entry = unknown, Shared = unknown> {
  operation: Operation
  name: EndpointName
  method: 'POST'
  path: string
  timeoutMs: number
  /** Entries in one request, at most. */
  max: number
  /** One entry as it is sent. An entry that it refuses must not be sent: the service would search by nothing. */
  entry: z.ZodType<Entry>
  /** What goes once beside the entries. */
  shared: z.ZodType<Shared>
  /** The two halves of a single request, unchecked. Undefined: this one can only be sent alone. */
  split: (
    request: Record<string, unknown>,
  ) => { entry: Record<string, unknown>; shared: Record<string, unknown> } | undefined
  /** Two entries with the same identity are the same input: it is sent once, and both have its fact. */
  identity: (entry: Entry) => string
  body: (entries: readonly Entry[], shared: Shared) => Record<string, unknown>
  /** The entries of a body that was sent earlier, in its order: what a charge in the journal is resumed by. */
  entriesOf: (body: unknown) => Entry[]
  /** Tells requests of different price apart, in words: terms are remembered for each. */
  priceClass: (entries: readonly Entry[], shared: Shared) => string
  /**
   * Reads the body of a 200: one fact for each entry, by its position in the request. Never throws. What was paid for and
   * cannot be read or placed is `unreadable`, never `not_found`.
   */
  decode: (body: string, entries: readonly Entry[]) => Map<number, Fact>
}

/** A bulk request that is started, and whose answer is asked for later, also by another process after a crash. */
export interface DeferredEndpoint<Entry = unknown, Shared = unknown> extends BatchEndpoint<Entry, Shared> {
  /** What the start says. Undefined when nothing in the body can be asked for: then it was paid and cannot be read. */
  started: (body: string) => StartedQuery | undefined
  query: {
    name: EndpointName
    path: string
    timeoutMs: number
    body: (queryId: string) => Record<string, unknown>
  }
}

export interface StartedQuery {
  /** Under which the answer is asked for. Empty when the answer came at once and nothing is left to ask. */
  queryId: string
  isCompleted: boolean
  /** How long it will take, as the service guesses; undefined when it does not say. */
  estimatedMs: number | undefined
}

/** Every entry without an answer of its own: the raw body is kept once, with the first. */
export function allUnreadable(count: number, raw: string, problem: string): Map<number, Fact> {
  return new Map(
    Array.from({ length: count }, (_, index): [number, Fact] => [
      index,
      { outcome: 'unreadable', data: index === 0 ? { raw, problem } : { problem, raw_kept_with: 0 } },
    ]),
  )
}
