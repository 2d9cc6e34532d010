import type { ColumnType, Generated } from 'kysely'
import type { LookupKey } from '../../../domain/keys.ts'
import type { ClosedFields } from '../../../domain/planning/could-write.ts'
import type { Currency } from '../../../domain/payment.ts'
import type { FieldValue, Identity, Patch } from '../../../domain/record.ts'
import type { ObjectKind, TaskKind, TaskStatus } from '../../../domain/words.ts'
import type { Json, NullableJson } from './json-columns.ts'
import type { FieldWriteState, OccurrenceCause, OccurrenceState, RunState } from './states.ts'

/** Runs, their records, and what was written into them. */
export interface RunTables {
  runs: {
    id: string
    connector: string
    object: ObjectKind
    entity: string
    recipe: string
    trigger: string
    state: RunState
    fingerprint: string
    source: Json<Record<string, unknown>>
    watermark: string | null
    scanned_at: Date | null
    records: Generated<number>
    requests_unpaid: Generated<number>
    requests_limited: Generated<number>
    started_at: Date
    finished_at: Date | null
    closed: NullableJson<ClosedFields>
    erased_at: Generated<Date | null>
  }
  run_stops: {
    run_id: string
    stopped_by: string
    reason: string
    stopped_at: Date
  }
  tasks: {
    id: Generated<bigint>
    run_id: string
    ordinal: number
    record_id: string
    kind: Generated<TaskKind>
    identity: Json<Identity>
    status: TaskStatus
    lookup_key: LookupKey | null
    duplicate_of: number | null
    waiting_for: LookupKey | null
    steps: Generated<LookupKey[]>
    patch: NullableJson<Patch>
    replaced: Generated<string[]>
    job_change: Generated<string[]>
    own_before: ColumnType<Record<string, FieldValue> | null, string | null | undefined, string | null>
    /** The fields that are being written, as `open-intents.ts` stores them. */
    open_intents: ColumnType<object[] | null, string | null | undefined, string | null>
    reason: string | null
    closed: NullableJson<ClosedFields>
    updated_at: Date
    erased_at: Generated<Date | null>
  }
  task_words: {
    task_id: bigint
    /** A tsvector. */
    words: string
    seen_at: Date
  }
  button_tasks: {
    connector: string
    entity: string
    record_id: string
    recipe: string
    asked_at: Date
    run_id: string
    task_id: bigint | null
  }
  watermarks: {
    connector: string
    entity: string
    filter: string
    watermark: string
    run_id: string
    moved_at: Date
  }
  plans: {
    id: string
    kind: 'csv' | 'sync' | 'list'
    connector: string
    object: ObjectKind
    entity: string
    recipe: string
    job: Json<Record<string, unknown>>
    document: Json<Record<string, unknown>>
    to_buy: number
    price_atomic: bigint
    high_atomic: bigint
    run_id: string | null
    made_at: Date
  }
  plan_records: {
    plan_id: string
    ordinal: number
    record_id: string
    digest: string
    lookup_key: LookupKey | null
    preview: NullableJson<Record<string, unknown>>
  }
  schedules: {
    name: string
    is_paused: Generated<boolean>
    paused_by: string | null
    paused_at: Date | null
    handled_until: Date
  }
  schedule_turns: {
    id: Generated<bigint>
    schedule: string | null
    connector: string
    entity: string
    recipe: string | null
    job: Json<Record<string, unknown>>
    cause: OccurrenceCause
    planned_at: Date
    start_by: Date | null
    stop_at: Date | null
    state: OccurrenceState
    not_before: Date
    holder: string | null
    lease_until: Date | null
    run_id: string | null
    reason: string | null
    changed_at: Date
  }
  merged_records: {
    connector: string
    entity: string
    record_id: string
    into_id: string
    seen_at: Date
  }
  field_writes: {
    id: Generated<bigint>
    task_id: bigint
    run_id: string
    connector: string
    entity: string
    record_id: string
    field: string
    old_value: NullableJson<FieldValue>
    old_raw: NullableJson<FieldValue>
    new_value: NullableJson<FieldValue>
    lookup_key: LookupKey | null
    price_atomic: Generated<bigint>
    currency: Currency | null
    state: FieldWriteState
    superseded_by: bigint | null
    rule: string | null
    mapping: string | null
    code: string | null
    intended_at: Date
    written_at: Date | null
    undone_at: Date | null
  }
}
