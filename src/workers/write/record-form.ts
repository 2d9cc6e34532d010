import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'

/** The values that the records of an entity can hold. */
export interface RecordForm {
  /** Returns whether records have a field for this canonical field. */
  has(field: string): boolean
  /** Returns the fields that go to the same property as this one, itself among them, in the order of the mapping. */
  sharing(field: string): readonly string[]
  /** Returns a digest of the field's mapping: where it goes and how it is written there. */
  mapping(field: string): string
  /** Returns a patch's values as a record will show them. Values that do not fit their field are left out. */
  standing(patch: Patch): Record<string, FieldValue>
  /** Returns the code of the refusal of each value that does not fit its field. */
  misfits(patch: Patch): Record<string, string>
}

/**
 * Leaves out the fields that the CRM has no place for. Of several fields on one property only the first of the mapping that
 * may be written and fits is kept: the record can hold one value, and the ledger must not name another.
 */
export function placeable(patch: Patch, form: RecordForm, rule: (field: string) => FieldRule): Patch {
  let standing: Record<string, FieldValue> | undefined
  // Few records have rivals, and to convert every value is a third of what a decision costs.
  const fits = (field: string) => Object.hasOwn((standing ??= form.standing(patch)), field)
  const hasPlace = (field: string): boolean => {
    if (!form.has(field)) return false
    const rivals = form.sharing(field).filter((other) => other in patch && rule(other) !== 'never')
    const chosen = rivals.length > 1 ? (rivals.find(fits) ?? rivals[0]) : rivals[0]
    return chosen === undefined || chosen === field
  }
  return Object.fromEntries(Object.entries(patch).filter(([field]) => hasPlace(field)))
}
