import type { Atomic } from '../../../domain/money.ts'
import type { RecordSpend } from '../../../domain/planning/explain.ts'
import type { FieldValue } from '../../../domain/record.ts'
import type { TaskStatus } from '../../../domain/words.ts'

export interface RecordName {
  connector: string
  /** `company` or `person`, or the connector’s own name for the object. */
  object: string
  id: string
}

/** The history of one record, from the ledger. */
export interface RecordTimeline extends RecordName {
  tasks: { run: string; status: TaskStatus; reason: string | null; at: Date; lookups: string[] }[]
  lookups: TimelineLookup[]
  fields: TimelineField[]
  spend: RecordSpend
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
  at: Date | null
  undoneAt: Date | null
}
