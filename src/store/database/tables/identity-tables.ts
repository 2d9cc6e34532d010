import type { Generated } from 'kysely'
import type { ReviewAnswer } from '../../../domain/lists/judged-row.ts'
import type { FoundAt, ListPart } from '../../../domain/lists/list-parts.ts'
import type { FieldValue, Identity } from '../../../domain/record.ts'
import type { RecordIdentity, RecordIdentityKind } from '../../../domain/subjects/record-identities.ts'
import type { Json, NullableJson } from './json-columns.ts'
import type { CreatedState } from './states.ts'

/** The records of the CRMs by what identifies them. */
export interface IdentityTables {
  record_identities: {
    connector: string
    entity: string
    record_id: string
    kind: RecordIdentityKind
    value: string
    seen_at: Date
  }
  record_indexes: {
    connector: string
    entity: string
    started_at: Date
    watermark: string | null
    records: Generated<bigint>
    completed_at: Date | null
    current_at: Date | null
  }
  created_records: {
    id: Generated<bigint>
    run_id: string
    list: string
    connector: string
    entity: string
    ordinal: number
    key: string
    identity: Json<Identity>
    identities: Json<RecordIdentity[]>
    page: number | null
    lookup_key: string | null
    state: CreatedState
    record_id: string | null
    snapshot: NullableJson<StoredSnapshot>
    reason: string | null
    intended_at: Date
    sent_at: Date | null
    ended_at: Date | null
    archive_sent_at: Date | null
    archived_at: Date | null
  }
  list_reviews: {
    id: Generated<bigint>
    connector: string
    entity: string
    list: string
    key: string
    identities: Json<string[]>
    answer: ReviewAnswer
    record_id: string | null
    shown: Json<string[]>
    decided_by: string
    decided_at: Date
  }
  list_review_names: {
    connector: string
    entity: string
    name: string
    review_id: bigint
  }
  reserved_identities: {
    connector: string
    entity: string
    kind: RecordIdentityKind
    value: string
    created_id: bigint
  }
}

/** The values of a record after it was made, by the CRM's own names, and the records tied to it. */
export interface StoredSnapshot {
  properties: Readonly<Record<string, string>>
  tied: Readonly<Record<string, number>>
}

/** The rows of lists, one set a fetch. */
export interface ListTables {
  list_references: {
    list: string
    ordinal: bigint
    rules: string
    read_at: Date
    name: string
    question: Json<Record<string, string>>
    identities: Json<RecordIdentity[]>
    service_ids: Json<string[]>
    record_ids: Json<string[]>
  }
  list_fetches: {
    id: Generated<bigint>
    list: string
    rules: string
    is_again: boolean
    started_at: Date
    ended_at: Date | null
    ending: FetchEnding | null
    fresh_until: Date | null
    arrived: Generated<bigint>
    stored: Generated<bigint>
    dropped: Json<Record<string, number>>
    parts: Json<ListPart[]>
  }
  list_rows: {
    fetch_id: bigint
    ordinal: bigint
    part: bigint
    page: bigint
    lookup_key: string
    row_key: string
    identity: Json<Identity>
    identities: Json<RecordIdentity[]>
    cells: Json<Record<string, FieldValue>>
    found: Json<FoundAt[]>
  }
  list_row_identities: {
    fetch_id: bigint
    kind: RecordIdentityKind
    value: string
    ordinal: bigint
    alone: bigint | null
    is_shared: Generated<boolean>
  }
}

/** `cut`: a part ended at a page that the service refused. `replaced`: a newer fetch began before this one had ended. */
export type FetchEnding = 'complete' | 'cut' | 'replaced'
