import type { FieldValue, Patch, SourceRecord } from '../domain/record.ts'
import type { ObjectKind } from '../domain/words.ts'

/** What stands in a record now. Gone, merged and converted records are answers, not exceptions. */
export type CurrentRecord =
  | {
      state: 'present'
      /** By canonical field name. A blank (null, "" or missing in the CRM) is left out. */
      values: Record<string, FieldValue>
    }
  | { state: 'gone' }
  | { state: 'merged'; into: string }
  | { state: 'converted' }

export interface RecordPatch {
  id: string
  patch: Patch
}

/** What became of one record's patch. A connector answers one for every patch it was given, in the same order. */
export type WriteResult =
  | { id: string; status: 'written' }
  | { id: string; status: 'unchanged' }
  | { id: string; status: 'skipped'; reason: string }
  | { id: string; status: 'rejected'; code: string; field?: string; reason: string }
  | { id: string; status: 'retry'; afterMs: number; reason: string }

/** Where a scan stands: opaque to all but the connector that made it, and stored only after its records are. */
export type Watermark = string

export interface ScanPage {
  records: SourceRecord[]
  /** A scan begun with it goes on behind this page. */
  watermark: Watermark
}

/**
 * One source of records. `entity` is the source's own name of the object (`companies`, `Lead`; for a CSV the object
 * itself). Throws the errors of domain/errors.ts: ConfigError for what a person must mend, RetriableError for what time
 * mends; a single bad record is never an exception.
 */
export interface Connector {
  readonly name: string
  /** What an id counts or names, for messages: "line" for a CSV. */
  readonly idNoun: string
  /** Entities that can be scanned and written, with the object each stands for. */
  readonly entities: Readonly<Record<string, ObjectKind>>
  scan(
    entity: string,
    options: { after?: Watermark; limit?: number; signal?: AbortSignal },
  ): AsyncIterable<ScanPage>
  /** What stands in these records now; every id asked for is in the answer. */
  read(entity: string, ids: readonly string[]): Promise<Map<string, CurrentRecord>>
  write(entity: string, patches: readonly RecordPatch[]): Promise<WriteResult[]>
  close(): Promise<void>
}
