import type { FieldValue, Patch } from '../../domain/record.ts'

/** Which values the records of an entity can hold. */
export interface RecordForm {
  /** Returns whether records have a field for this canonical field. */
  has(field: string): boolean
  /** Returns a digest of the field's mapping: where it goes and how it is written there. */
  mapping(field: string): string
  /** Returns a patch's values as a record will show them. Values that do not fit their field are left out. */
  standing(patch: Patch): Record<string, FieldValue>
}
