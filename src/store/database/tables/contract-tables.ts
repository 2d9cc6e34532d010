import type { Generated } from 'kysely'
import type { LookupKey } from '../../../domain/keys.ts'
import type { Currency, Protocol } from '../../../domain/payment.ts'
import type { Operation } from '../../../domain/words.ts'
import type { Json, NullableJson } from './json-columns.ts'

/** The facts that answers have shown of the service's interface, and the actions that change something there. */
export interface ContractTables {
  operation_states: {
    operation: Operation
    part: OperationPart
    place: string | null
    state: 'confirmed' | 'stopped'
    code: string | null
    reason: string | null
    since: Date
    confirmed_at: Date | null
  }
  operation_probes: { operation: Operation; part: OperationPart; lookup_key: LookupKey; until: Date }
  answer_fields: {
    operation: Operation
    path: string
    type: SeenType
    first_seen: Date
    last_seen: Date
    answers: bigint
  }
  learned_words: { vocabulary: string; word: string; first_seen: Date; last_seen: Date }
  known_limits: {
    operation: Operation
    name: 'page' | 'per_page'
    value: bigint
    code: string | null
    seen_at: Date
  }
  seen_prices: {
    price_class: string
    protocol: Protocol
    currency: Currency
    amount_atomic: bigint
    seen_at: Date
  }
  accepted_renames: { operation: Operation; field: string; wire_name: string; accepted_at: Date }
  service_actions: {
    id: Generated<bigint>
    operation: Operation
    digest: string
    place: bigint
    method: string
    path: string
    body: Json<Record<string, unknown>>
    state: 'intent' | 'sent' | 'done' | 'in_doubt'
    lookup_key: LookupKey | null
    answer: NullableJson<Record<string, unknown>>
    problem: string | null
    created_at: Date
    sent_at: Date | null
    ended_at: Date | null
  }
}

/** A request of an operation with a path of its own: one record, a batch, or the answer of a batch that was started. */
export type OperationPart = '' | 'batch' | 'answer'
/** A type of JSON. */
export type SeenType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'
