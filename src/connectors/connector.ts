import type { CurrentRecord, OwnValues } from '../domain/field-policy/current-record.ts'
import type { DescribedField } from '../domain/mapping/mapping.ts'
import type { Patch, SourceRecord } from '../domain/record.ts'
import type { ObjectKind } from '../domain/words.ts'

export type { CurrentRecord, OwnValues }

export interface RecordPatch {
  id: string
  patch: Patch
  /** How our own fields are to stand again, what is left out cleared. Absent: they are stamped as a write of now. */
  own?: OwnValues | undefined
}

/** A field of a patch that could not be fitted into the CRM's field, and was not sent. `field` is canonical. */
export interface LeftOut {
  field: string
  code: string
  reason: string
}

/**
 * What became of one record's patch. A connector answers one for every patch it was given, in the same order. Reasons
 * and codes never hold a record's values. `field` is canonical where the mapping knows it, else the CRM's own name.
 */
export type WriteResult =
  /** Written, but for the fields in `leftOut`. */
  | { id: string; status: 'written'; leftOut?: LeftOut[] }
  /** Nothing in the patch: nothing was sent. */
  | { id: string; status: 'unchanged' }
  /** Nothing to write to: gone, merged or converted since it was read. */
  | { id: string; status: 'skipped'; reason: string }
  /**
   * Refused by the CRM, or nothing of the patch fits (`unsent`). Trying the same again will not help as long as the record
   * and the account are as they are.
   */
  | { id: string; status: 'rejected'; code: string; field?: string; reason: string; unsent?: true }
  /** Not written, and worth the same patch again after `afterMs`. It takes no attempt. */
  | { id: string; status: 'retry'; afterMs: number; reason: string }

/** Where a scan stands: opaque to all but the connector that made it, and stored only after its records are. */
export type Watermark = string

export interface ScanPage {
  records: SourceRecord[]
  /** A scan begun with it goes on behind this page; after the last page it begins the next increment. */
  watermark: Watermark
  /**
   * Ids of those records on the page whose last change was our own write: what we wrote stands there as we wrote it,
   * and our stamp is as young as the record's. They are not enriched again.
   */
  ownWrites?: ReadonlySet<string>
}

/** One condition on a property or field of the CRM, by the CRM's own name. All conditions of a scan must hold. */
export type ScanFilter =
  | { property: string; is: 'blank' | 'filled' }
  | { property: string; is: 'equal' | 'different'; value: string }

export interface ScanOptions {
  /** Goes on where this watermark stands. It wins over `since`. */
  after?: Watermark | undefined
  /** Only records changed at or after this time; without it and without `after`, all records. */
  since?: Date | undefined
  filter?: readonly ScanFilter[] | undefined
  /** At most so many records; the watermark then stands behind the last one. */
  limit?: number | undefined
  signal?: AbortSignal | undefined
}

export interface ConnectorProblem {
  code: string
  message: string
  /** What a person can do about it, as a sentence. */
  todo: string
}

/** What `check` found out. Never throws for what a person must mend: those are `problems`. */
export interface ConnectorCheck {
  account: { id: string; name?: string; timeZone?: string } | null
  apiVersion: string
  missingScopes: string[]
  problems: ConnectorProblem[]
}

/**
 * One of our own fields in the CRM. `missing`: it is not there, and the connector cannot create it. `conflict`: a field of
 * that name exists and cannot hold what we write.
 */
export interface EnsuredField {
  name: string
  label: string
  status: 'exists' | 'created' | 'would_create' | 'missing' | 'conflict'
  reason?: string
}

export interface Association {
  id: string
  primary: boolean
}

/** Calls left today. `resetsAt` is when the day turns for this account. */
interface Quota {
  used: number
  limit: number
  resetsAt: Date
}

/** What a source of records can do, and so what the rest of the program may ask of it. */
export interface Capabilities {
  /**
   * A written value stays in the record: `read` returns it, the ledger keeps what it replaced, and `undo` puts that back.
   * Without it nothing is written into the source, and the values leave the ledger by another way.
   */
  readonly keepsValues: boolean
  /**
   * Any worker may carry a run on and end it. Without it, only the command that began a run can end it, because it writes
   * the result.
   */
  readonly runsInBackground: boolean
  /** A scan can begin at a time (`since`), and one that begins behind the last page returns what has changed since then. */
  readonly scansChanges: boolean
  /** A scan can be narrowed by conditions (`filter`). */
  readonly filters: boolean
  /** Records carry our stamp, by which a scan tells our own writes from those of others. */
  readonly marksOwnWrites: boolean
  /** `quota` returns how much of the day's calls is used. */
  readonly tellsQuota: boolean
}

/**
 * One source of records. `entity` is the source's own name of the object (`companies`, `Lead`; for a CSV the object
 * itself). Throws the errors of domain/errors.ts: ConfigError for what a person must mend, RetriableError for what time
 * mends (a spent daily limit among them: it carries the time until the day turns and is no try); a single bad record is
 * never an exception.
 */
export interface Connector {
  /** The name in the registry. */
  readonly name: string
  readonly capabilities: Capabilities
  /** Entities that can be scanned and written, with the object each stands for. */
  readonly entities: Readonly<Record<string, ObjectKind>>
  /** Credentials, account, API version and rights, and whether the mapping fits what the CRM has. */
  check(): Promise<ConnectorCheck>
  /** The fields that the CRM has for the entity. */
  describe(entity: string): Promise<DescribedField[]>
  /** Creates what is missing of our own fields and of the mapping's. Doing it twice changes nothing. */
  ensureFields(entity: string, options: { dryRun: boolean }): Promise<EnsuredField[]>
  /**
   * Hands out every record once, page by page. A scan broken off and begun again with the last stored watermark goes on
   * behind it. Records that cannot be read come with `unreadable`.
   */
  scan(entity: string, options: ScanOptions): AsyncIterable<ScanPage>
  /** What stands in these records now; every id asked for is in the answer. */
  read(entity: string, ids: readonly string[]): Promise<Map<string, CurrentRecord>>
  write(entity: string, patches: readonly RecordPatch[]): Promise<WriteResult[]>
  /**
   * So many records are written before a button's record has its turn again; absent where more at once go another, cheaper
   * way.
   */
  readonly writesAtOnce?: number
  /** The records of `toEntity` that each of these is tied to; every id asked for is in the answer. */
  associations(entity: string, toEntity: string, ids: readonly string[]): Promise<Map<string, Association[]>>
  /** null where the source has no daily limit, or does not tell. */
  quota(): Promise<Quota | null>
  close(): Promise<void>
}
