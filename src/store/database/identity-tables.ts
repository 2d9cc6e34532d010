import type { Generated } from 'kysely'
import type { RecordIdentityKind } from '../../domain/subjects/record-identities.ts'

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
}
