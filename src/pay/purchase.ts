import type { LookupKey } from '../domain/keys.ts'
import type { Lane } from '../domain/ports/send-permit.ts'
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
  /** Of a request for several lookups: what the answer tells of each entry, by its place. Never throws. */
  parts?: (body: string) => ReadonlyMap<number, Fact>
  /** Of a request that is answered later: what its start says. Undefined: there is nothing to ask for. */
  started?: (body: string) => Started | undefined
}

interface Started {
  /** Empty where the answer came at once. */
  queryId: string
  isCompleted: boolean
  estimatedMs: number | undefined
}

/** One lookup to be bought: what to ask, for whom, and how to read the answer. */
export interface Purchase {
  key: LookupKey
  /** The lookups that it answers: this one, or those of a bundle. */
  buys: readonly LookupKey[]
  runId: string
  connector: string
  lane: Lane
  request: PaidRequest
}
