import type { Account } from '../accounts.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Prices } from '../prices.ts'
import type { StatsEndpoint } from '../stats.ts'
import type { BadRequest } from './request-body.ts'

/** A request behind the paywall, whatever it is paid with. Its text is not read as JSON yet. */
export interface Ask {
  text: string | null
  contentType: string | undefined
  /** The network's name in keys. */
  word: string
  prices: Prices
  faults: FaultSwitch
  logoUrl: string
  /** Undefined when the request is paid for by itself. */
  account: Account | undefined
}

export type Answered =
  | { refused: BadRequest; status: 400 | 416 }
  | {
      data: unknown
      /** What it truly cost. Shown in the credit block, where the endpoint has one. */
      credits: number
      ignoredFields: readonly string[]
      creditsAt: 'data' | 'metadata' | 'nowhere'
    }

/** One endpoint that is paid for, without the paying. */
export interface PaidEndpoint {
  name: StatsEndpoint
  /** Everything that is asked for, each in one spelling. None when the request cannot be read. */
  keys(text: string | null, word: string): string[]
  /** The most that the request can cost, in credits. Never throws, whatever the text is. */
  ceiling(text: string | null, prices: Prices): number
  answer(ask: Ask): Answered | Promise<Answered>
}
