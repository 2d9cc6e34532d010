import type { ColumnType, Generated } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { IdentifierKind } from '../../domain/subjects/identifiers.ts'
import type { ChargeState, Currency, Protocol } from '../../domain/payment.ts'
import type { Fact, FieldValue, Identity, LookupRequest, Patch } from '../../domain/record.ts'
import type { ObjectKind, Operation, TaskStatus } from '../../domain/words.ts'

/** A jsonb column: read as a value, written as its text. */
type Json<T> = ColumnType<T, string, string>
type NullableJson<T> = ColumnType<T | null, string | null, string | null>

/** `stopped`: somebody interrupted it; nothing of it is bought until the same run is started again. */
export type RunState = 'planned' | 'scanning' | 'working' | 'stopped' | 'parked' | 'finished' | 'failed'
/**
 * `superseded`: a later write took its place, or nobody can tell any more whether it came to pass. `rejected`: the CRM
 * refused it.
 */
export type FieldWriteState = 'intended' | 'written' | 'undone' | 'superseded' | 'rejected'
export type LookupState = 'waiting' | 'parked' | 'answered' | 'failed'

/** `handed_over`: its scan is done, and the workers do the rest. */
export type OccurrenceState = 'due' | 'scanning' | 'handed_over' | 'stopped' | 'missed' | 'failed'
/** `catch_up`: planned for a time at which nobody was there. `request`: a sync of no schedule, asked for by somebody. */
export type OccurrenceCause = 'cron' | 'catch_up' | 'run_now' | 'request'

/** The due time of work that is parked until a person acts: it never comes, and every date library can hold it. */
export const indefinitely = new Date('9999-01-01T00:00:00Z')

/** The tables as Kysely sees them; the migrations are the truth. */
export interface Tables {
  meta: { key: string; value: string }
  paces: { name: string; learned: string; saved_at: Date }
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
  }
  lookups: {
    key: LookupKey
    operation: Operation
    request: Json<LookupRequest>
    state: LookupState
    run_id: string
    connector: string
    hot: Generated<boolean>
    due_at: Date
    queued_until: Date | null
    tries: Generated<number>
    reason: string | null
    code: string | null
    outcome: Fact['outcome'] | null
    answer: NullableJson<Record<string, unknown>>
    answered_at: Date | null
    fresh_until: Date | null
    bundle_key: LookupKey | null
    alone: Generated<boolean>
    query_id: string | null
  }
  bundle_members: {
    bundle_key: LookupKey
    lookup_key: LookupKey
    place: number
    charge_id: string | null
    amount_atomic: Generated<bigint>
  }
  service_warnings: {
    endpoint: string
    kind: 'ignored' | 'renamed'
    field: string
    renamed_to: string | null
    first_seen_at: Date
  }
  tasks: {
    id: Generated<bigint>
    run_id: string
    ordinal: number
    record_id: string
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
    reason: string | null
    updated_at: Date
  }
  charges: {
    id: string
    lookup_key: LookupKey
    attempt: number
    run_id: string
    connector: string
    operation: Operation
    endpoint: string
    url: string
    body: string
    protocol: Protocol
    currency: Currency
    amount_atomic: bigint
    authorization_json: Json<Record<string, unknown>>
    nonce: string
    budget_scopes: string[]
    state: ChargeState
    sends: Generated<number>
    reason: string | null
    transaction: string | null
    created_at: Date
    sent_at: Date | null
    touched_at: Date
    closed_at: Date | null
    credits_atomic: Generated<bigint | null>
  }
  budgets: { scope: string; committed_atomic: bigint }
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
  suppressions: { kind: IdentifierKind; digest: string; added_at: Date }
  plans: {
    id: string
    kind: 'csv' | 'sync'
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
  switches: { name: string; is_on: boolean; reason: string | null; changed_at: Date }
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
  alerts: {
    id: Generated<bigint>
    condition: string
    subject: string
    severity: 'warning' | 'critical'
    message: string
    raised_at: Date
    ended_at: Date | null
    ended_message: string | null
  }
  alert_deliveries: {
    id: Generated<bigint>
    alert_id: bigint
    kind: 'raised' | 'ended'
    due_at: Date
    lease_until: Date | null
    tries: Generated<number>
    delivered_at: Date | null
    problem: string | null
  }
  watermarks: {
    connector: string
    entity: string
    filter: string
    watermark: string
    run_id: string
    moved_at: Date
  }
  api_tokens: {
    id: string
    name: string
    digest: string
    scopes: string[]
    per_minute: number
    day_cap_atomic: bigint | null
    created_at: Date
    last_used_at: Date | null
    revoked_at: Date | null
  }
  api_token_calls: { token_id: string; minute: Date; calls: number }
  replays: { digest: string; expires_at: Date }
  call_refusals: { reason: string; day: string; count: bigint }
  button_tasks: {
    connector: string
    entity: string
    record_id: string
    recipe: string
    asked_at: Date
    run_id: string
    task_id: bigint | null
  }
  workflow_callbacks: {
    callback_id: string
    task_id: bigint
    state: 'waiting' | 'completed' | 'given_up'
    tries: Generated<number>
    due_at: Date
    reason: string | null
    asked_at: Date
    completed_at: Date | null
  }
  monitor_deliveries: {
    digest: string
    body: string | null
    received_at: Date
    due_at: Date
    tries: Generated<number>
    done_at: Date | null
    records: number | null
    unknown: number | null
    reason: string | null
  }
  terms: { endpoint: string; terms: Json<Record<string, unknown>>; seen_at: Date }
  recipients: { host: string; protocol: Protocol; pay_to: string; first_seen_at: Date }
  refusals: {
    id: Generated<bigint>
    lookup_key: LookupKey
    run_id: string
    endpoint: string
    rule: string
    message: string
    refused_at: Date
  }
  desk_sessions: {
    token_hash: string
    user_name: string
    role: 'viewer' | 'operator' | 'admin'
    credential: string | null
    created_at: Date
    seen_at: Date
    expires_at: Date
  }
  desk_attempts: {
    scope: string
    failures: number
    last_at: Date
    admitted: boolean
    blocked_until: Date | null
  }
  audit: {
    id: Generated<bigint>
    at: Date
    actor: string
    role: string
    action: string
    target: string | null
    details: NullableJson<Record<string, string | number | boolean | null>>
  }
  reconciliations: {
    id: Generated<bigint>
    at: Date
    difference_atomic: bigint
    differences: number
    in_doubt_atomic: bigint
    document: Json<object>
  }
}
