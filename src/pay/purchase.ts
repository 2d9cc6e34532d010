import type { LookupKey } from '../domain/keys.ts'
import type { ChargeJournal } from '../domain/ports/charge-journal.ts'
import type { HttpMethod } from '../domain/ports/transport.ts'
import type { Lane } from '../domain/ports/send-permit.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'

/** A request to the service, ready to be paid for. */
export interface PaidRequest {
  operation: Operation
  /** Method and address. Terms are remembered and spending is reported under this name. */
  endpoint: string
  method: HttpMethod
  url: string
  /** Empty for a method without one. */
  body: string
  timeoutMs: number
  decode: (body: string) => Fact
  /** For a request of several lookups: returns the fact of each entry by its position. Never throws. */
  parts?: (body: string) => ReadonlyMap<number, Fact>
  /**
   * For a request whose answer is deferred: reads the response that started it. Returns undefined when there is nothing
   * to poll.
   */
  started?: ((body: string) => Started | undefined) | undefined
  /** The body as the ledger keeps it, where the one that is sent holds secrets. Such a request is never sent again from the ledger. */
  keptBody?: string
  /**
   * Called before each sending, and before its charge is marked as sent. What it stores is durable before the first byte leaves.
   * Throws where it must not be sent.
   */
  beforeSend?: () => Promise<void>
}

interface Started {
  /** Empty when the answer came immediately. */
  queryId: string
  isCompleted: boolean
  estimatedMs: number | undefined
}

/** The charges of earlier attempts. */
export type Unanswered = Awaited<ReturnType<ChargeJournal['unanswered']>>

/** One lookup to buy: the request, the run that pays, and the reader of the answer. */
export interface Purchase {
  key: LookupKey
  /** The lookups that it answers: this one, or those of a batch. */
  buys: readonly LookupKey[]
  runId: string
  connector: string
  lane: Lane
  request: PaidRequest
  /**
   * The charges of earlier attempts, where they were read beside the lookup's own row. Counts only where there are none: an open or a
   * lost one is read again.
   */
  readAhead?: Promise<Unanswered> | undefined
  /** Finishes an open charge, and buys nothing when it turns out to be dead. */
  onlyFinish?: boolean
}
