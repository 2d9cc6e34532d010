import type { FieldValue, Patch } from '../record.ts'
import type { FieldRule } from './field-policy.ts'
import { sameValue } from './same-value.ts'

/** A value that must not be written again: it was undone, or the CRM refused it. */
export interface BlockedValue {
  field: string
  value: FieldValue
  why: 'undone' | 'rejected'
  rule: string | null
  mapping: string | null
  code: string | null
}

/** The ledger's word for a field that was cleared. Null stands there for the values of a forgotten subject. */
export const clearedValue = ''

export interface BlockedBy {
  proposed: Patch
  /** The proposed values as the record will show them. Values that do not fit their field are left out. */
  standing: Readonly<Record<string, FieldValue>>
  rule: (field: string) => FieldRule
  /** Returns a digest of the field's mapping. */
  mapping: (field: string) => string
}

/**
 * Returns the fields that are not written again, by name. An undone value is blocked under the same rule and mapping, a
 * refused value under the same mapping. Pure.
 */
export function blockedFields(values: readonly BlockedValue[], by: BlockedBy): Map<string, BlockedValue> {
  const blocked = values.filter((each) => {
    const { field, value, why } = each
    const target = writeTargetOf(field, by)
    if (!target || each.mapping !== target.mapping || !sameValue(field, target.value, value)) return false
    return why === 'rejected' || each.rule === by.rule(field)
  })
  return new Map(blocked.map((each) => [each.field, each]))
}

/**
 * Returns the value that a field would have (`clearedValue` for none), and the mapping under which it is remembered. A value that does not fit the
 * field has a mapping name of its own: it is tried again once the CRM has the missing option.
 */
export function writeTargetOf(
  field: string,
  { proposed, standing, mapping }: Pick<BlockedBy, 'proposed' | 'standing' | 'mapping'>,
): { value: FieldValue; mapping: string } | undefined {
  const value = Object.hasOwn(standing, field) ? standing[field] : undefined
  if (value !== undefined) return { value, mapping: mapping(field) }
  const change = Object.hasOwn(proposed, field) ? proposed[field] : undefined
  if (change && 'clear' in change) return { value: clearedValue, mapping: mapping(field) }
  return change && 'set' in change ? { value: change.set, mapping: `${mapping(field)} unfit` } : undefined
}
