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
      /** What identifies it, as a scan reads it. Absent where a read cannot tell. */
      identity?: Identity
      /** The same fields exactly as the CRM holds them, white space included. Absent where the source keeps no values. */
      raw?: Record<string, FieldValue>
      /** Absent where the source has no fields of ours. */
      own?: OwnValues
    }
  | { state: 'gone' }
  | { state: 'merged'; into: string }
  | { state: 'converted' }

export type PresentRecord = Extract<CurrentRecord, { state: 'present' }>

/** Returns why a record cannot be written to, as its task's reason. */
export function absentReason(record: Exclude<CurrentRecord, PresentRecord> | undefined): string {
  switch (record?.state) {
    case 'merged':
      return `the record was merged into ${record.into}`
    case 'converted':
      return 'the lead was converted'
    default:
      return 'the record is gone'
  }
}
