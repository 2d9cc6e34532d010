import type { LookupKey } from '../domain/keys.ts'
import type { Lane } from '../domain/ports/turn.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'

/** A request of the service, ready to be paid for. */
export interface PaidRequest {
  operation: Operation
  /** Method and address: under this name terms are remembered and spending is reported. */
  endpoint: string
  method: 'GET' | 'POST'
  url: string
  body: string
  timeoutMs: number
  decode: (body: string) => Fact
}

/** One lookup to be bought: what to ask, for whom, and how to read the answer. */
export interface Purchase {
  key: LookupKey
  runId: string
  connector: string
  lane: Lane
  request: PaidRequest
}
