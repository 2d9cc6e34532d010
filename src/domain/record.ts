import type { Atomic } from './money.ts'
import type { ObjectKind } from './words.ts'

/** A scalar value of a record. Lists are joined by the mapping and never stored as they are. */
export type FieldValue = string | number | boolean

/** The values that identify a record before anything is bought: raw, as the connector read it, without blank values. */
export interface Identity {
  profileUrl?: string
  domain?: string
  email?: string
  phone?: string
  firstName?: string
  lastName?: string
  company?: string
  /** The service's own id of a company. */
  companyId?: string
  tiktokUrl?: string
  wantedlyUrl?: string
  tw104Url?: string
  rocketpunchUrl?: string
  rememberUrl?: string
  youtrustUrl?: string
}

/**
 * Further identifiers of a company beside profile URL and domain: the record's name of each, the service's, and a label for
 * messages. The earlier one counts.
 */
export const furtherIdentifiers = [
  { field: 'companyId', name: 'domain_search_id', label: 'company id' },
  { field: 'tiktokUrl', name: 'tiktok_url', label: 'TikTok URL' },
  { field: 'wantedlyUrl', name: 'wantedly_url', label: 'Wantedly URL' },
  { field: 'tw104Url', name: 'tw104_url', label: '104 URL' },
  { field: 'rocketpunchUrl', name: 'rocketpunch_url', label: 'RocketPunch URL' },
  { field: 'rememberUrl', name: 'remember_url', label: 'Remember URL' },
  { field: 'youtrustUrl', name: 'youtrust_url', label: 'YOUTRUST URL' },
] as const satisfies readonly { field: keyof Identity; name: string; label: string }[]

/** A record as a connector returns it to a producer. */
export interface SourceRecord {
  /** The connector's own id. For a CSV it is the line on which the row begins. */
  id: string
  object: ObjectKind
  identity: Identity
  /**
   * Its values by canonical field, without blanks, as far as the mapping has a place for them. They decide what is worth
   * buying. Absent where the source cannot tell: then no field counts as filled.
   */
  values?: Readonly<Record<string, FieldValue>>
  /** The further properties that a scan was asked for, by the CRM's own names and as it has them, without blanks. */
  properties?: Readonly<Record<string, FieldValue>>
  /** Set when the record could not be read: it ends as `rejected` with this reason, and nothing is bought. */
  unreadable?: string
  /** Set when there is no record to write to any more: it ends as `skipped` with this reason, and nothing is bought. */
  gone?: string
  /** Ids of records that were merged into this one, where the source tells them. */
  mergedIds?: readonly string[]
}

/**
 * The change of one field. An absent change leaves the field as it is; there is no bare null. `restore` is a value exactly
 * as the CRM had it: it is written back without conversion.
 */
export type FieldChange = { set: FieldValue } | { clear: true } | { restore: FieldValue }

/** The changes for one record, by canonical field name. */
export type Patch = Record<string, FieldChange>

type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** The request to an endpoint, before its schema has checked it. */
export type LookupRequest = Readonly<Record<string, JsonValue>>

/** The answer of one finished lookup. */
export interface Fact {
  outcome: 'found' | 'not_found' | 'unreadable' | 'failed'
  data: Record<string, unknown> | null
  /** The reason why it failed, in words. */
  reason?: string | undefined
  /** The price paid for it in this record's run: 0 where the ledger had it already, absent where it is not known. */
  priceAtomic?: Atomic
}
