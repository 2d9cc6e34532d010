import type { Account } from '../accounts.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Prices } from '../prices.ts'
import type { StatsEndpoint } from '../stats.ts'
import type { BadRequest } from './request-body.ts'

/** A request behind the paywall, paid by any method. Its text is not parsed as JSON yet. */
export interface PaidAsk {
  text: string | null
  contentType: string | undefined
  /** The network's name in keys. */
  word: string
  prices: Prices
  faults: FaultSwitch
  logoUrl: string
  /** Undefined when the request is paid by a payment of its own. */
  account: Account | undefined
}

export type Answered =
  | { refused: BadRequest; status: 400 | 408 | 416 }
  | {
      data: unknown
      /** The actual cost. It is shown in the credit block, where the endpoint has one. */
      credits: number
      ignoredFields: readonly string[]
      creditsAt: 'data' | 'metadata' | 'nowhere'
      /** Further entries of the answer's `metadata`. */
      metadata?: Record<string, unknown>
    }

/** One paid endpoint, without its payment. */
export interface PaidEndpoint {
  name: StatsEndpoint
  /** Returns everything that is asked for, each in one spelling. Empty when the request cannot be read. */
  keys(text: string | null, word: string): string[]
  /** Returns the most that the request can cost, in credits. Never throws. */
  ceiling(text: string | null, prices: Prices): number
  answer(ask: PaidAsk): Answered | Promise<Answered>
}
