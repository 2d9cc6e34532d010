import type { Generated } from 'kysely'
import type { FieldValue, Identity } from '../../../domain/record.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import type { Json } from './json-columns.ts'

/** `review`: its company waits for a person. */
export type MatchState = 'waiting' | 'review' | 'done'

/** The end of a match. `unknown`: the company is in no record, and none was to be made. `left`: nothing may be done for it. */
export type MatchOutcome = 'worked' | 'unknown' | 'left' | 'failed'

/** The parts of a match that have a plan of a list. */
export type PlannedStep = 'company' | 'people'

export interface StoredCompany {
  /** The service's own id of it. */
  serviceId: string | null
  identity: Identity
  values: Readonly<Record<string, FieldValue>>
}

export interface StoredSignal {
  title: string
  url: string | null
  at: string | null
}

/** The matches of declared monitors. */
export interface MatchTables {
  matches: {
    id: string
    monitor: string
    company: Json<StoredCompany>
    identities: Json<RecordIdentity[]>
    signals: Json<StoredSignal[]>
    state: MatchState
    outcome: MatchOutcome | null
    reason: string | null
    record_id: string | null
    plans: Json<Partial<Record<PlannedStep, string>>>
    taken_at: Date
    due_at: Date
    tries: Generated<bigint>
    done_at: Date | null
  }
}
