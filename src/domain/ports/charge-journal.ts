import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import type { Authorization, Charge, Protocol, Terms } from '../payment.ts'
import type { Fact } from '../record.ts'
import type { Operation } from '../words.ts'

/** A cap on spending: all that is committed under `scope` may never pass `capAtomic`. */
export interface BudgetLine {
  scope: string
  capAtomic: Atomic
  /** When the window turns; undefined for one that never does. */
  resumesAt?: Date
}

export interface NewCharge {
  lookupKey: LookupKey
  operation: Operation
  runId: string
  connector: string
  endpoint: string
  url: string
  body: string
  budget: BudgetLine[]
  amountAtomic: Atomic
  /** Draws the authorization once the attempt's number is known, inside the transaction. Pure. */
  draw: (attempt: number) => Authorization
}

/** An open charge with what the resolver needs to know of its lookup. */
export interface OpenCharge extends Charge {
  operation: Operation
  connector: string
  /** The lookup's answer is in the ledger already. */
  isAnswered: boolean
}

/** What a paid answer becomes in the ledger. */
export interface StoredAnswer extends Fact {
  freshUntil: Date
  /** Of a request for several lookups: what it told of each, by the place of its entry. */
  parts?: ReadonlyMap<number, Fact & { freshUntil: Date }>
  /** Paid for, and the answer is asked for later under this id. */
  startedAs?: { queryId: string; askAt: Date }
}

export interface PaidReceipt {
  transaction: string | null
  at: Date
  /** What the service says that the answer cost, in millionths of a credit. Where credits are paid with, it is the truth. */
  creditsAtomic?: bigint | undefined
}

/** The journal of charges, as the payer needs it. Every method is one transaction. */
export interface ChargeJournal {
  /** Gives an open charge a new place in the line of the untouched. */
  touch(id: string): Promise<void>
  /**
   * Reserves the budget and journals the charge. Throws BudgetExhaustedError when a line is full or spending is
   * stopped, PaymentInDoubtError when another charge for the lookup is still open.
   */
  reserve(charge: NewCharge): Promise<Charge>
  /** What was paid for a lookup before and has no answer: the charge that is still open, and how many were lost. */
  unanswered(key: LookupKey): Promise<{ open: Charge | undefined; lost: number }>
  /** Open charges that nobody has touched since `before`, the longest untouched first: the resolver's work. */
  openCharges(before: Date, limit: number): Promise<OpenCharge[]>
  /**
   * Must be durable before the first byte leaves: a `journaled` charge is one that was never sent. Only at `sent` may anything
   * be sent. `closed`: this process may have slept while another one, whose clock ran ahead, took what was journaled and never
   * sent for over. `stopped`: spending was stopped since the charge was journaled; what has been sent before goes on.
   */
  markSent(id: string, at: Date): Promise<'sent' | 'closed' | 'stopped'>
  markInDoubt(id: string, reason: string): Promise<void>
  /** Answer and settlement together: a paid answer is never without its charge, nor a charge without its answer. */
  settleCharge(id: string, receipt: PaidReceipt, answer: StoredAnswer): Promise<void>
  /** The answer arrived but not the proof of payment: keep the answer, leave the charge to the resolver. */
  storeAnswer(id: string, reason: string, answer: StoredAnswer): Promise<void>
  /** The service answered for nothing: no charge, but an answer to keep. */
  storeFreeAnswer(key: LookupKey, answer: StoredAnswer): Promise<void>
  /** The resolver found that a charge whose answer is stored was paid. */
  confirm(id: string, transaction: string | null, at: Date): Promise<void>
  /** Not charged and never can be: gives the budget back. */
  release(id: string, state: 'declined' | 'expired', reason: string): Promise<void>
  /** Closes as declined what was never sent. False when somebody has sent it meanwhile. */
  withdraw(id: string): Promise<boolean>
  /** Paid, and the answer is gone. The money stays spent. */
  lose(id: string, transaction: string | null, reason: string): Promise<void>
  recordRefusal(refusal: {
    lookupKey: LookupKey
    runId: string
    endpoint: string
    rule: string
    message: string
  }): Promise<void>
}

/** The terms under which each endpoint sells, and the recipient first seen for each host. */
export interface TermsCache {
  terms(endpoint: string): Promise<Terms | undefined>
  remember(endpoint: string, terms: Terms): Promise<void>
  forget(endpoint: string): Promise<void>
  pinnedRecipient(host: string, protocol: Protocol): Promise<string | undefined>
  /** Pins the recipient if none is pinned yet, and answers the one that is. */
  pinRecipient(host: string, protocol: Protocol, payTo: string): Promise<string>
}
