import type { Atomic } from './money.ts'
import type { ObjectKind } from './words.ts'

/** A scalar as it stands in a record; lists are joined by the mapping, never stored bare. */
export type FieldValue = string | number | boolean

/** What is known to identify a record before anything is bought. Raw, as the connector read it; absent when blank. */
export interface Identity {
  profileUrl?: string
  domain?: string
  email?: string
  phone?: string
  firstName?: string
  lastName?: string
  company?: string
}

/** A record as a connector hands it to a producer. */
export interface SourceRecord {
  /** The connector's own id; for a CSV the line on which the row begins. */
  id: string
  object: ObjectKind
  identity: Identity
  /** Set when the record could not be read: it ends as `rejected` with this reason, and nothing is bought. */
  unreadable?: string
}

/**
 * The change of one field. Absent means leave as it is; there is no bare null. `restore` is a value as the CRM itself held
 * it: it is put back to the byte, and fitted to nothing.
 */
export type FieldChange = { set: FieldValue } | { clear: true } | { restore: FieldValue }

/** The changes for one record, by canonical field name. */
export type Patch = Record<string, FieldChange>

type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** What an endpoint is asked, before its schema has checked it. */
export type LookupRequest = Readonly<Record<string, JsonValue>>

/** What one finished lookup told. */
export interface Fact {
  outcome: 'found' | 'not_found' | 'unreadable' | 'failed'
  data: Record<string, unknown> | null
  /** Why it failed, in words for a person. */
  reason?: string | undefined
  /** What was paid for it in this record's run: 0 for what stood in the ledger already; absent where that is not known. */
  priceAtomic?: Atomic
}
