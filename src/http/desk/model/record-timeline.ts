import type { Atomic } from '../../../domain/money.ts'
import type { RecordSpend } from '../../../domain/planning/explain.ts'
import type { FieldValue, Identity } from '../../../domain/record.ts'
import type { TaskStatus } from '../../../domain/words.ts'
import type { NamedRun } from '../view/format.ts'

export interface RecordName {
  connector: string
  /** `company` or `person`, or the connector’s own name for the object. */
  object: string
  id: string
}

/** The history of one record, from the ledger. */
export interface RecordTimeline extends RecordName {
  /** Oldest first. */
  tasks: TimelineTask[]
  lookups: TimelineLookup[]
  fields: TimelineField[]
  spend: RecordSpend
  /** The ids of records that were merged into this one. */
  mergedFrom: string[]
  /** The record that this one was merged into, where that is known. */
  mergedInto: string | null
}

export interface TimelineTask extends NamedRun {
  task: bigint
  run: string
  status: TaskStatus
  reason: string | null
  at: Date
  identity: Identity
  lookups: string[]
}

export interface TimelineLookup {
  key: string
  operation: string
  state: string
  outcome: string | null
  answeredAt: Date | null
  freshUntil: Date | null
  /** Each attempt to pay for it. */
  charges: {
    id: string
    run: string
    state: string
    amountAtomic: Atomic
    currency: string
    at: Date
    transaction: string | null
    /** The network on which it was paid, as in `eip155:8453`. */
    network: string | null
  }[]
}

export interface TimelineField {
  field: string
  /** null when the field was blank. */
  old: FieldValue | null
  /** null when the subject was forgotten. */
  new: FieldValue | null
  lookup: string | null
  priceAtomic: Atomic
  currency: string
  run: string
  state: string
  /** Why the value was left out of the record; null for a value that was not. */
  reason: string | null
  at: Date | null
  undoneAt: Date | null
}
