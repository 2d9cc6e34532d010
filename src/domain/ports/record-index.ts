import type { SourceRecord } from '../record.ts'

/** The part of a record that names it. */
export type NamedRecord = Pick<SourceRecord, 'id' | 'object' | 'identity' | 'values' | 'unreadable'>

/** Learns by what the records of a CRM are found again, from everything that is read of them and written into them. */
export interface RecordIndex {
  /**
   * Replaces all that is known of these records. One that names nothing, or is suppressed, leaves the index; one that is
   * `unreadable` is in the CRM all the same, so what was known of it stays.
   */
  keep(connector: string, entity: string, records: readonly NamedRecord[]): Promise<void>
  /** Adds to what is known of these records. */
  add(connector: string, entity: string, records: readonly NamedRecord[]): Promise<void>
  /** Removes records that are gone. */
  drop(connector: string, entity: string, ids: readonly string[]): Promise<void>
}
