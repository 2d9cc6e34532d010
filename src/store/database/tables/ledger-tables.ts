import type { Generated } from 'kysely'
import type { LookupKey } from '../../../domain/keys.ts'
import type { ChargeState, Currency, Protocol } from '../../../domain/payment.ts'
import type { Fact, LookupRequest } from '../../../domain/record.ts'
import type { Operation } from '../../../domain/words.ts'
import type { Json, NullableJson } from './json-columns.ts'
import type { LookupState } from './states.ts'

/** Lookups, and the money for them. */
export interface LedgerTables {
  meta: { key: string; value: string }
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
    /** Part of the seed of its payments. Null for rows older than the column, and for forgotten ones. */
    salt: Generated<string | null>
  }
  bundle_members: {
    bundle_key: LookupKey
    lookup_key: LookupKey
    place: number
    charge_id: string | null
    amount_atomic: Generated<bigint>
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
    /** Null in a row of a process that began before the column was there. */
    payer: Generated<string | null>
    pay_to: Generated<string | null>
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
    /** When it was booked from the chain, after a restore. */
    restored_at: Generated<Date | null>
  }
  budgets: {
    scope: string
    committed_atomic: bigint
    /** Below the caps of the settings: the cost of the plan that the run was started from. */
    cap_atomic: Generated<bigint | null>
  }
  refusals: {
    id: Generated<bigint>
    lookup_key: LookupKey
    run_id: string
    endpoint: string
    rule: string
    message: string
    refused_at: Date
  }
  switches: { name: string; is_on: boolean; reason: string | null; changed_at: Date }
  terms: { endpoint: string; terms: Json<Record<string, unknown>>; seen_at: Date }
  recipients: { host: string; protocol: Protocol; pay_to: string; first_seen_at: Date }
  service_warnings: {
    endpoint: string
    kind: 'ignored' | 'renamed'
    field: string
    renamed_to: string | null
    first_seen_at: Date
  }
  reconciliations: {
    id: Generated<bigint>
    at: Date
    difference_atomic: bigint
    differences: number
    in_doubt_atomic: bigint
    document: Json<object>
  }
  chain_checkpoints: {
    scope: string
    block: bigint
    block_hash: string | null
    gone_through: bigint | null
    head_block: bigint
    head_at: Date
  }
  chain_transfers: {
    scope: string
    transaction: string
    log_index: bigint
    block: bigint
    recipient: string
    amount_atomic: bigint
    nonce: string | null
  }
  subject_names: { name: string; subject: string | null; learned_at: Date }
  paces: { name: string; learned: string; saved_at: Date }
  measurements: {
    kind: string
    name: string
    part: string
    span: string
    begins_at: Date
    count: bigint
    sum: number
    buckets: bigint[]
  }
}
