import type { RecordIdentity } from '../domain/subjects/record-identities.ts'
import type { FieldValue, Patch, SourceRecord } from '../domain/record.ts'
import type { LeftOut } from './write-result.ts'

/** A record that is to be made. */
export interface RecordDraft {
  /**
   * Our own key: a digest of the draft's canonical identity. It stands in a unique field of ours, by which the record is written,
   * so that a repeat meets the record of the first attempt.
   */
  key: string
  /** The values by canonical field, as in every write; the create mapping says where they go. */
  patch: Patch
  /** Constants by the CRM's own property names. */
  set?: Readonly<Record<string, FieldValue>> | undefined
  /** The CRM's id of the owner. */
  ownerId?: string | undefined
  /** The record of the company that a person belongs to. */
  companyId?: string | undefined
  /**
   * The draft may have been written before. Then the record is looked up by its key first, and one that is there stays as it is: a
   * person may have edited it since.
   */
  isRepeat?: boolean | undefined
}

/** The result of one draft. A connector returns one for every draft, in the same order. Reasons never contain a value. */
export type CreateResult =
  | { key: string; status: 'created'; id: string; leftOut?: LeftOut[] }
  /** A record with this key was there already. */
  | { key: string; status: 'present'; id: string }
  /** The CRM itself says that there are such records; `ids` may be empty where it does not name them. Nothing was made. */
  | { key: string; status: 'exists'; ids: string[]; reason: string }
  | { key: string; status: 'rejected'; code: string; field?: string; reason: string }
  /** Not made, or not known. The same draft can be sent again as a repeat after `afterMs`. */
  | { key: string; status: 'retry'; afterMs: number; reason: string }

/** `gone`: there is no such record any more, or it was archived before. */
export type ArchiveResult =
  | { id: string; status: 'archived' }
  | { id: string; status: 'gone' }
  | { id: string; status: 'rejected'; code: string; reason: string }
  | { id: string; status: 'retry'; afterMs: number; reason: string }

/**
 * The state of a record as far as others can change it: every property that can be written, and what is tied to it.
 */
export interface RecordSnapshot {
  /** By the CRM's own name; blanks are left out. */
  properties: Readonly<Record<string, string>>
  /** The number of records of each other kind (deals, notes, tasks, cases) that are tied to it, without zeros. */
  tied: Readonly<Record<string, number>>
}

/** A user or queue of the CRM to which records can belong. */
export interface Owner {
  id: string
  name: string
  /** False: the user has left. */
  isActive: boolean
}

/** A CRM in which records can be found, made and archived. */
export interface RecordMaker {
  /** The most drafts that one request makes. */
  readonly perCreate: number
  /** Days for which the CRM keeps an archived record, and the place where a person finds it again. */
  readonly bin: { readonly keptDays: number; readonly place: string }
  /**
   * Returns the records that have one of these identities now, as far as the CRM can search for them: under the spellings that
   * people use most. The index of the ledger finds the others. Records are read as a scan reads them.
   */
  find(entity: string, identities: readonly RecordIdentity[]): Promise<SourceRecord[]>
  /** Returns the canonical fields of which a new record needs one at least, beside those that `describe` calls required. */
  needsOneOf?(entity: string): readonly string[]
  /** Returns the ids of the records that have these keys now, by key. Unlike a search it sees a record at once. */
  findByKey(entity: string, keys: readonly string[]): Promise<Map<string, string>>
  /** Returns the entity of the companies to which new records of this one are tied. Undefined: they are tied to none. */
  companiesOf(entity: string): string | undefined
  /** Returns those of these owners that the CRM has for records of the entity, by the id asked for. */
  owners(entity: string, ids: readonly string[]): Promise<Map<string, Owner>>
  /** Returns the owner of each of these records, where it is there and has one. */
  ownersOf(entity: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Makes each draft once. Duplicate rules of the CRM are not overridden. */
  create(entity: string, drafts: readonly RecordDraft[]): Promise<CreateResult[]>
  /** Moves records to the CRM's recycle bin. */
  archive(entity: string, ids: readonly string[]): Promise<ArchiveResult[]>
  /** Ties each record to one of `toEntity`. A tie that exists stays. Returns the reason of each that was refused, by index. */
  associate(
    entity: string,
    toEntity: string,
    pairs: readonly { from: string; to: string }[],
  ): Promise<ReadonlyMap<number, string>>
  /**
   * Returns what an account lacks for making and archiving records, beyond the needs of a sync. Asked only where records are to be
   * made.
   */
  check?(entity: string): Promise<{ code: string; message: string; todo: string }[]>
  /** Returns the snapshot of each record that is there. */
  snapshots(entity: string, ids: readonly string[]): Promise<Map<string, RecordSnapshot>>
}
