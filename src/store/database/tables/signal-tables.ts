import type { ColumnType, Generated } from 'kysely'
import type { Identity } from '../../../domain/record.ts'
import type { SignalAbout, SignalType } from '../../../domain/signals/signal.ts'
import type { Json, NullableJson } from './json-columns.ts'

/** The accounts that are watched, and what was observed of them. */
export interface SignalTables {
  signal_accounts: {
    id: Generated<bigint>
    connector: string
    entity: string
    record_id: string
    name: string | null
    identity: Json<Identity>
    service_id: string | null
    stage: string | null
    direction: string | null
    markets: NullableJson<string[]>
    seen_at: Date
  }
  signals: {
    id: Generated<bigint>
    account_id: bigint
    type: SignalType
    key: string
    title: string | null
    link: string | null
    place: string | null
    strength: string | null
    about: Json<SignalAbout>
    happened_at: Date | null
    first_seen_at: Date
    last_seen_at: Date
    ended_at: Date | null
    lookup_key: string
    price_atomic: bigint | null
  }
  signal_checks: {
    pipeline: string
    account_id: bigint
    type: SignalType
    checked_at: Date
    whole_at: Date
    is_matched: boolean
    reason: string | null
    lookup_key: string
    price_atomic: bigint | null
  }
  declared_monitors: {
    name: string
    monitor_id: string
    since: Date
    compared_at: Date | null
    differs: boolean | null
  }
  signal_scores: {
    pipeline: string
    account_id: bigint
    /** `2026-11-23` (UTC). */
    day: ColumnType<Date, string, string>
    score: bigint
    stage: string | null
  }
}
