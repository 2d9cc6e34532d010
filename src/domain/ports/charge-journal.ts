import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import type { Authorization, Charge, Protocol, Terms } from '../payment.ts'
import type { Fact, LookupRequest } from '../record.ts'
import type { Operation } from '../words.ts'

/** A cap on spending: the sum committed under `scope` never passes `capAtomic`. */
export interface BudgetLine {
  scope: string
  capAtomic: Atomic
  /** When the next window begins. Undefined for a cap without windows. */
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
  /** Draws the authorization once the attempt's number and the lookup's salt are known, inside the transaction. Pure. */
  draw: (attempt: number, salt: string | null) => Authorization
}

/** An open charge with what the resolver needs to know of its lookup. */
export interface OpenCharge extends Charge {
  operation: Operation
  connector: string
  /** The lookup's request, by the names of the catalogue. */
  request: LookupRequest
  /** True when the ledger has the lookup's answer already. */
  isAnswered: boolean
}

/** An answer as the ledger stores it. */
export interface StoredAnswer extends Fact {
  freshUntil: Date
  /** The answer of a batch for each of its lookups, by the index of its entry. */
  parts?: ReadonlyMap<number, Fact & { freshUntil: Date }>
  /** Set when the request was paid for and its answer has to be asked for later, under this id. */
  startedAs?: { queryId: string; askAt: Date }
}

export interface PaidReceipt {
  transaction: string | null
  at: Date
  /** The cost by the service's own statement, in millionths of a credit. For charges in credits it is the actual price. */
  creditsAtomic?: bigint | undefined
}

/** The permission for a charge's bytes to leave, or its refusal; see `markSent`. */
export type SendMark = 'sent' | 'closed' | 'stopped' | 'run_stopped'

/** The journal of charges, as the payer needs it. Each method is one transaction. */
export interface ChargeJournal {
  /** Moves an open charge to the end of the resolver's order. */
  touch(id: string): Promise<void>
  /**
   * Reserves the budget and journals the charge. Throws BudgetExhaustedError when a cap is reached or spending is stopped,
   * and PaymentInDoubtError when another charge for the lookup is still open.
   */
  reserve(charge: NewCharge): Promise<Charge>
  /**
   * Returns the earlier charges of a lookup without an answer: the open one, the number of those lost since its last answer,
   * and when the last of these was drawn.
   */
  unanswered(
    key: LookupKey,
  ): Promise<{ open: Charge | undefined; lost: number; lastLostAt?: Date | undefined }>
  /** Returns open charges that were not touched since `before`, the longest untouched first, for the resolver. */
  openCharges(before: Date, limit: number): Promise<OpenCharge[]>
  /**
   * Says what `markSent` would say now, and changes nothing. Asked before a payment's proof is made, because some proofs are
   * drawn from others, such as a card's token from its issuer. Permits nothing: only `markSent` does.
   */
  maySend(id: string, options?: { isUsed?: boolean }): Promise<SendMark>
  /**
   * Must be durable before the first byte leaves, because a `journaled` charge counts as never sent. Only `sent` permits
   * sending. `closed`: this process may have been suspended while another, whose clock ran ahead, closed the journaled charge
   * as never sent. `stopped`: spending is stopped, whether the charge was sent before or not; `run_stopped`: a person has
   * stopped the run that buys its lookup. With `isUsed` a charge that was sent before may be sent even then: the chain says
   * that its money has moved, so that it moves nothing.
   */
  markSent(id: string, at: Date, options?: { isUsed?: boolean }): Promise<SendMark>
  markInDoubt(id: string, reason: string): Promise<void>
  /** Stores answer and settlement together, so that neither is ever without the other. */
  settleCharge(
    charge: Pick<Charge, 'id' | 'lookupKey'>,
    receipt: PaidReceipt,
    answer: StoredAnswer,
  ): Promise<void>
  /** Called when the answer arrived without a proof of payment: stores the answer and leaves the charge to the resolver. */
  storeAnswer(id: string, reason: string, answer: StoredAnswer): Promise<void>
  /** Called when the service answered without a charge: stores the answer. */
  storeFreeAnswer(key: LookupKey, answer: StoredAnswer): Promise<void>
  /** Called when the resolver found that a charge with a stored answer was paid. */
  confirm(id: string, transaction: string | null, at: Date): Promise<void>
  /** Called when nothing was charged and nothing can be any more: gives the budget back. */
  release(id: string, state: 'declined' | 'expired', reason: string): Promise<void>
  /** Closes a charge that was never sent as declined. Returns false when it was sent meanwhile. */
  withdraw(id: string): Promise<boolean>
  /** Called when the lookup was paid and its answer is lost. The money stays spent. */
  lose(id: string, transaction: string | null, reason: string): Promise<void>
  recordRefusal(refusal: {
    lookupKey: LookupKey
    runId: string
    endpoint: string
    rule: string
    message: string
  }): Promise<void>
}

/** The terms of each endpoint, and the recipient first seen for each host. */
export interface TermsCache {
  terms(endpoint: string): Promise<Terms | undefined>
  remember(endpoint: string, terms: Terms): Promise<void>
  forget(endpoint: string): Promise<void>
  pinnedRecipient(host: string, protocol: Protocol): Promise<string | undefined>
  /** Pins the recipient if none is pinned yet, and returns the pinned one. */
  pinRecipient(host: string, protocol: Protocol, payTo: string): Promise<string>
}
