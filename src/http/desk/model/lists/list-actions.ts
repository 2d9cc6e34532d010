import type { Atomic } from '../../../../domain/money.ts'
import type { DeskJob } from '../desk-job.ts'

/** An action of an operator on a list. It buys pages within `budgetAtomic`, pays nothing, or makes what a plan names. */
export type ListAction =
  | { kind: 'preview'; budgetAtomic: Atomic }
  | { kind: 'fetch'; budgetAtomic: Atomic; reachableOnly: boolean }
  | { kind: 'plan'; planId: string }
  | { kind: 'apply'; planId: string }

/** The most that the pages of a list may cost now. */
export interface ListQuote {
  /** Undefined: nobody knows the price, and the settings name no cap. */
  pageAtomic: Atomic | undefined
  /** The pages that are still to be bought. Null: not known before page 1. */
  pagesLeft: number | null
  /** Page 1 is in the ledger and fresh. */
  hasFirst: boolean
  /** The budget of a fetch in the settings. */
  budgetAtomic: Atomic | undefined
  /** The rows that stay outside, because they are behind the last page. */
  outside: number
}

/** An action that was started here. */
export interface ListJob extends DeskJob<ListAction['kind']> {
  planId?: string | undefined
}
