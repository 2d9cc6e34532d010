import type { Operation } from '../words.ts'

/** The end of an exchange with the data service: with an answer, or without one. */
export type ExchangeOutcome =
  | 'found'
  | 'not_found'
  | 'unreadable'
  | 'failed'
  /** The answer of several lookups. */
  | 'batch'
  /** Accepted; the answer has to be asked for later. */
  | 'started'
  /** 402: the price of the lookup. */
  | 'challenge'
  /** 429. */
  | 'rate_limited'
  | 'refused'
  | 'server_error'
  /** No answer came, or none in time. */
  | 'unanswered'

/** Called with each exchange, from its first byte to the end of its answer. Must not throw. */
export type OnExchange = (operation: Operation, outcome: ExchangeOutcome, ms: number) => void

/** Counts what a process does. Nothing of it waits or throws. */
export interface Meter {
  exchange: OnExchange
  /** A call of a connector to its CRM. */
  crmCall(connector: string, call: string, ms: number): void
  /** A record that a write-back ended. */
  written(connector: string, outcome: string): void
  /** A request for records by a person, until all of them ended (`ended`) or nobody waits for them any more (`waiting`). */
  onDemand(connector: string, outcome: 'ended' | 'waiting', ms: number): void
  /** A request that left under a permit of the pacer. */
  request(path: string, end: 'served' | 'rate_limited' | 'other'): void
}
