import type { RecordIdentity } from '../domain/subjects/record-identities.ts'

/** A note tells something about a record; a task asks its owner to do something by a day. */
export type NoteKind = 'note' | 'task'

export interface NoteLink {
  title: string
  url: string
}

/** A note or task that is to be written to a record of the CRM. Texts are plain: the connector escapes them for its CRM. */
export interface NoteDraft {
  kind: NoteKind
  /**
   * Our own key, by which it is found again after a crash. The same meaning has the same marker, for instance one of pipeline, account
   * and period. It stands in the text: see `markerOf` of domain/notes/marker.ts.
   */
  marker: string
  /** The record that it is about. */
  recordId: string
  /** One line: the subject of a task, the first line of a note. */
  title: string
  body: string
  links: readonly NoteLink[]
  /** Tasks alone: the day by which it is to be done. */
  dueAt?: Date | undefined
  /** The CRM's id of the owner. Absent: the record's owner, where `writeNotes` finds one. */
  ownerId?: string | undefined
  /** The people that its text names: `forget` finds it by them. */
  people?: readonly RecordIdentity[] | undefined
}

/** The result of one draft. A connector returns one for every draft, in the same order. Reasons never contain a text of a draft. */
export type NoteResult =
  | { marker: string; status: 'written'; id: string }
  /** There is no record to write it to. */
  | { marker: string; status: 'skipped'; reason: string }
  | { marker: string; status: 'rejected'; code: string; reason: string }
  /** Not written, and certainly not. The same draft can be sent again after `afterMs`. */
  | { marker: string; status: 'retry'; afterMs: number; reason: string }
  /** No answer came: it may be written. It must be looked for by its marker before it is sent again. */
  | { marker: string; status: 'unclear'; reason: string }

/** A note or task that may be there. */
export interface WantedNote {
  kind: NoteKind
  marker: string
  recordId: string
  /** It was not written before this time. */
  since: Date
}

/** A note or task that was written. */
export interface WrittenNote {
  kind: NoteKind
  id: string
  /** The record that it was written to. */
  recordId: string
}

/**
 * The state of a note or task as far as a person can change it, as digests: the ledger keeps no text of it. Two are equal where nobody
 * has touched it.
 */
export interface NoteSnapshot {
  /** Digest of title and text, without the spelling that the CRM gives to markup. */
  text: string
  owner: string | null
  /** Tasks alone: the CRM's word, such as `NOT_STARTED`. */
  status: string | null
  /** Tasks alone: the day by which it is to be done. */
  due: string | null
  /** The records to which it is tied, sorted. */
  ties: readonly string[]
}

export type RemoveResult =
  | { id: string; status: 'removed' }
  | { id: string; status: 'gone' }
  | { id: string; status: 'rejected'; code: string; reason: string }
  | { id: string; status: 'retry'; afterMs: number; reason: string }

/** A CRM in which notes and tasks can be written to records. */
export interface NoteWriter {
  /** The most drafts that one request writes. */
  readonly perWrite: number
  /**
   * Returns the ids of those that are there now, by marker. It reads what is tied to the records, and no search index: it sees a
   * note as soon as the request that wrote it is done.
   */
  findByMarker(entity: string, wanted: readonly WantedNote[]): Promise<Map<string, string>>
  /** Writes each draft once, without looking for its marker first. */
  write(entity: string, drafts: readonly NoteDraft[]): Promise<NoteResult[]>
  /** Returns the snapshot of each that is there, by id. */
  snapshots(entity: string, written: readonly WrittenNote[]): Promise<Map<string, NoteSnapshot>>
  /** Moves them to the CRM's recycle bin, and returns the result of each in their order. */
  remove(entity: string, written: readonly WrittenNote[]): Promise<RemoveResult[]>
  /** Returns what the account lacks for notes and tasks of the entity. Asked only where they are wanted. */
  check(entity: string): Promise<{ code: string; message: string; todo: string }[]>
}
