import type { CurrentRecord, OwnValues } from '../domain/field-policy/current-record.ts'
import type { CrmMapping, DescribedField } from '../domain/mapping/mapping.ts'
import type { Patch, SourceRecord } from '../domain/record.ts'
import type { ObjectKind } from '../domain/words.ts'
import type { RecordMaker } from './creating.ts'
import type { NoteWriter } from './noting.ts'
import type { LeftOut, WriteResult } from './write-result.ts'

export type { CurrentRecord, LeftOut, OwnValues, WriteResult }

export interface RecordPatch {
  id: string
  patch: Patch
  /** Values to restore in our own fields; those left out are cleared. Absent: the fields are stamped as written now. */
  own?: OwnValues | undefined
}

/** The position of a scan. Only the connector that made it can read it. It is stored after the records before it. */
export type Watermark = string

export interface ScanPage {
  records: SourceRecord[]
  /** A scan that starts with it continues after this page; after the last page it starts the next increment. */
  watermark: Watermark
  /**
   * Ids of the records on the page that we changed last: they still contain what we wrote, and our stamp is as recent
   * as the record's. They are not enriched again.
   */
  ownWrites?: ReadonlySet<string>
}

/** One condition on a property or field, by the CRM's own name. A record must meet all conditions of a scan. */
export type ScanFilter =
  | { property: string; is: 'blank' | 'filled' }
  | { property: string; is: 'equal' | 'different'; value: string }

export interface ScanOptions {
  /** Continues at this watermark. It takes precedence over `since`. */
  after?: Watermark | undefined
  /** Only records changed at or after this time; without it and without `after`, all records. */
  since?: Date | undefined
  filter?: readonly ScanFilter[] | undefined
  /** Further properties to read, by the CRM's own names: the records hold them in `properties`. */
  properties?: readonly string[] | undefined
  /** The most records to return; the watermark is then the position after the last one. */
  limit?: number | undefined
  signal?: AbortSignal | undefined
}

export interface ConnectorProblem {
  code: string
  message: string
  /** The remedy for a person, as a sentence. */
  todo: string
  /** The fields of ours that it is about, as `Account.Paydirt_Source__c`: they are reported here and nowhere else. */
  fields?: string[]
}

/** The findings of `check`. It does not throw for what a person must correct: those are `problems`. */
export interface ConnectorCheck {
  account: { id: string; name?: string; timeZone?: string } | null
  apiVersion: string
  missingScopes: string[]
  problems: ConnectorProblem[]
}

/**
 * One of our own fields in the CRM. `missing`: it does not exist, and the connector cannot create it. `conflict`: a
 * field of that name exists and cannot contain what we write.
 */
export interface EnsuredField {
  name: string
  label: string
  status: 'exists' | 'created' | 'would_create' | 'missing' | 'conflict'
  reason?: string
}

export interface EnsureOptions {
  dryRun: boolean
  /** The canonical fields that the recipe wants. Default: none of the optional ones. */
  fields?: readonly string[] | undefined
  /** Records are to be made: the unique field for our key is needed too. */
  forCreating?: boolean | undefined
}

export interface Association {
  id: string
  primary: boolean
}

/** A record by the entity under which it is kept. */
export interface EntityRecord {
  entity: string
  id: string
}

/** The calls of today. `resetsAt` is when the account's day ends. */
interface Quota {
  used: number
  limit: number
  resetsAt: Date
}

/** The features of a source of records: the rest of the program asks for no others. */
export interface Capabilities {
  /**
   * A written value stays in the record: `read` returns it, the ledger keeps the value it replaced, and `undo` restores
   * that. Without it nothing is written into the source, and values leave the ledger by another way.
   */
  readonly keepsValues: boolean
  /**
   * Any worker may continue a run and end it. Without it, only the command that started a run can end it, because the
   * command writes the result.
   */
  readonly runsInBackground: boolean
  /**
   * A scan can start at a time (`since`), and one that starts after the last page returns what has changed since then.
   */
  readonly scansChanges: boolean
  /** A scan can be narrowed by conditions (`filter`). */
  readonly filters: boolean
  /** Records carry our stamp, by which a scan tells our own writes from those of others. */
  readonly marksOwnWrites: boolean
  /** `quota` returns how much of the day's calls is used. */
  readonly tellsQuota: boolean
  /** Records can be found by their identities, made and archived (`maker`). */
  readonly makesRecords: boolean
  /** Notes and tasks can be written to records (`notes`). */
  readonly takesNotes: boolean
}

/**
 * One source of records. `entity` is the source's own name of the object (`companies`, `Lead`; for a CSV the object
 * itself). Methods throw the errors of domain/errors.ts: ConfigError for what a person must correct, RetriableError for
 * what passes with time. A spent daily limit is a RetriableError with the time until the day ends, and does not count
 * as a try. A single bad record never causes an exception.
 */
/** Takes work that is to be done soon, and before the records are read again or written. */
export type Later = (work: () => Promise<void>) => void

export interface Connector {
  /** The name in the registry. */
  readonly name: string
  /** The connector whose field policies hold, where it is another one. */
  readonly policiesOf?: string | undefined
  readonly capabilities: Capabilities
  /** Entities that can be scanned and written, each with the kind of object it stands for. */
  readonly entities: Readonly<Record<string, ObjectKind>>
  /** The mapping between its fields and ours. Absent for a source that has a place for every field. */
  readonly mapping?: CrmMapping | undefined
  /**
   * Checks credentials, account, API version and rights, and whether the mapping fits the CRM's fields. Only for `entities`,
   * where they are given: a run needs no right to what it does not touch.
   */
  check(entities?: readonly string[]): Promise<ConnectorCheck>
  /** Returns the fields that the CRM has for the entity. */
  describe(entity: string): Promise<DescribedField[]>
  /**
   * Creates the missing ones of our own fields and of the mapping's, the optional ones only for the canonical fields in
   * `fields`. A second call changes nothing.
   */
  ensureFields(entity: string, options: EnsureOptions): Promise<EnsuredField[]>
  /**
   * Yields every record once, page by page. An interrupted scan continues from the last stored watermark. Records that
   * cannot be read have `unreadable` set.
   */
  scan(entity: string, options: ScanOptions): AsyncIterable<ScanPage>
  /**
   * Returns the current state of these records, with an entry for every id. `later` is given what somebody who waits for the
   * records need not wait for; the caller does it, and it is done before the return without it.
   */
  read(entity: string, ids: readonly string[], later?: Later): Promise<Map<string, CurrentRecord>>
  write(entity: string, patches: readonly RecordPatch[]): Promise<WriteResult[]>
  /** The most records that are read and written together. Absent: as many as the program likes. */
  readonly writesAtOnce?: number
  /**
   * The number of records that one request writes. Background records are gathered up to a multiple of it. Absent: the
   * source is not written by requests.
   */
  readonly recordsPerWrite?: number
  /** The longest that a background record is gathered, in milliseconds. Absent: as long as the program likes. */
  readonly mostGatherMs?: number
  /** Returns the records of `toEntity` associated with each of these, with an entry for every id. */
  associations(entity: string, toEntity: string, ids: readonly string[]): Promise<Map<string, Association[]>>
  /**
   * Returns those of these records that are people and are kept as another entity's record, by the id asked for: the
   * person accounts among accounts. Absent where no record is.
   */
  people?(entity: string, ids: readonly string[]): Promise<Map<string, EntityRecord>>
  /** Present where `makesRecords`. */
  readonly maker?: RecordMaker
  /** Present where `takesNotes`. */
  readonly notes?: NoteWriter
  /** Returns null where the source has no daily limit, or does not report it. */
  quota(): Promise<Quota | null>
  close(): Promise<void>
}
