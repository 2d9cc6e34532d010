import type { Generated } from 'kysely'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import type { Json, NullableJson } from './json-columns.ts'

/**
 * The state of a note or task. `sent`: it may be in the CRM. `left`: it was not written, for a reason that may pass. `undone`: it was
 * written and taken back, and is never written again.
 */
export type NoteState = 'intent' | 'sent' | 'done' | 'left' | 'undone'

/** A note or task as its text is kept until it is written. */
export interface StoredNoteDraft {
  title: string
  body: string
  links: { title: string; url: string }[]
  dueAt: string | null
  ownerId: string | null
}

/** A note or task after it was written, as digests. */
export interface StoredNoteSnapshot {
  text: string
  owner: string | null
  status: string | null
  due: string | null
  ties: readonly string[]
}

/** The notes and tasks that are written into CRMs. */
export interface NoteTables {
  crm_notes: {
    id: Generated<bigint>
    kind: 'note' | 'task'
    connector: string
    entity: string
    record_id: string
    marker: string
    state: NoteState
    run_id: string | null
    draft: NullableJson<StoredNoteDraft>
    identities: Json<RecordIdentity[]>
    note_id: string | null
    snapshot: NullableJson<StoredNoteSnapshot>
    reason: string | null
    created_at: Date
    sent_at: Date | null
    done_at: Date | null
    undone_at: Date | null
  }
}
