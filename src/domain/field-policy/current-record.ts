import type { OwnFields } from '../mapping/mapping.ts'
import type { FieldValue, Identity } from '../record.ts'

/** The values of our own fields of a record, as the CRM holds them, without the blank ones. */
export type OwnValues = Readonly<Partial<Record<keyof OwnFields, FieldValue>>>

/** A record as it is now. Gone, merged and converted records are answers, not exceptions. */
export type CurrentRecord =
  | {
      state: 'present'
      /** By canonical field name. A blank (null, "" or missing in the CRM) is left out. */
      values: Record<string, FieldValue>
      /** The identity of the record, as a scan reads it. Absent where a read cannot tell. */
      identity?: Identity
      /** The same fields exactly as the CRM holds them, white space included. Absent where the source keeps no values. */
      raw?: Record<string, FieldValue>
      /** Absent where the source has no fields of ours. */
      own?: OwnValues
      /** Ids of records that were merged into this one, where the source tells them. */
      mergedIds?: readonly string[]
    }
  | { state: 'gone' }
  | { state: 'merged'; into: string }
  | { state: 'converted' }
  /** It is a person, and is kept as that entity's record: a person account as its contact. */
  | { state: 'person'; entity: string; id: string }
  /** One of its values cannot be read, so nothing is written over the others either. */
  | { state: 'unreadable'; reason: string }

export type PresentRecord = Extract<CurrentRecord, { state: 'present' }>

/** Returns how a task of a record that cannot be written to ends. */
export function absentStatus(
  record: Exclude<CurrentRecord, PresentRecord> | undefined,
): 'skipped' | 'rejected' {
  return record?.state === 'unreadable' ? 'rejected' : 'skipped'
}

/** Returns why a record cannot be written to, as its task's reason. */
export function absentReason(record: Exclude<CurrentRecord, PresentRecord> | undefined): string {
  switch (record?.state) {
    case 'merged':
      return `the record was merged into ${record.into}`
    case 'converted':
      return 'the lead was converted'
    case 'person':
      return `the record is a person, enriched as ${record.entity} ${record.id}`
    case 'unreadable':
      return record.reason
    default:
      return 'the record is gone'
  }
}
