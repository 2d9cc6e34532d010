import type { Generated } from 'kysely'
import type { IdentifierKind } from '../../../domain/subjects/identifiers.ts'
import type { NullableJson } from './json-columns.ts'

/** Callers, privacy, and messages in and out. */
export interface AccessTables {
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
  erasures: {
    id: Generated<bigint>
    name: string
    older_than: Date
    began_at: Date
    ended_at: Date
    rows: bigint
  }
  suppressions: { kind: IdentifierKind; digest: string; added_at: Date }
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
    outcome: string | null
    timing: string | null
    monitor: string | null
    triggered_at: Date | null
    /** The number of times that the same bytes came again. */
    repeats: Generated<bigint>
    source: Generated<'hook' | 'log'>
  }
  monitor_newest: { monitor: string; triggered_at: Date }
  monitor_delivery_totals: {
    monitor: string
    outcome: string
    timing: string
    deliveries: bigint
    repeats: bigint
  }
  monitor_headers: { name: string; first_seen_at: Date; last_seen_at: Date }
  former_monitors: { monitor_id: string; name: string; ended_at: Date }
  monitor_log_reads: {
    monitor_id: string
    position: Date | null
    read_at: Date | null
    next_at: Date
    problem: string | null
    status: string | null
  }
  monitor_log_entries: {
    monitor_id: string
    entry_id: string
    detected_at: Date | null
    found: string
    read_at: Date
  }
  monitor_seen: {
    monitor: string
    meaning: string
    digest: string
    company: string | null
    seen_at: Date
  }
}
