import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { sameValue } from '../../domain/field-policy/same-value.ts'
import type { BlockedValue } from '../../store/writes/write-intents.ts'

export interface BlockedBy {
  proposed: Patch
  /** How the proposed values read once they stand in the record; those that cannot stand there are left out. */
  standing: Readonly<Record<string, FieldValue>>
  rule: (field: string) => FieldRule
  /** A digest of where a field goes. */
  mapping: (field: string) => string
}

/**
 * Fields that are not written again, by name: with the very value that was put back under the same rule and mapping, or
 * that was refused under the same mapping. Pure.
 */
export function blockedFields(values: readonly BlockedValue[], by: BlockedBy): Map<string, BlockedValue> {
  const held = values.filter((each) => {
    const { field, value, why } = each
    const wanted = aimOf(field, by)
    if (!wanted || each.mapping !== wanted.mapping || !sameValue(field, wanted.value, value)) return false
    return why === 'rejected' || each.rule === by.rule(field)
  })
  return new Map(held.map((each) => [each.field, each]))
}

/**
 * What a field would hold, and under which mapping it is remembered. A value that the field cannot hold has a name of its
 * own: once the CRM gets the option that was missing, it is another case.
 */
export function aimOf(
  field: string,
  { proposed, standing, mapping }: Pick<BlockedBy, 'proposed' | 'standing' | 'mapping'>,
): { value: FieldValue; mapping: string; fits: boolean } | undefined {
  const value = Object.hasOwn(standing, field) ? standing[field] : undefined
  if (value !== undefined) return { value, mapping: mapping(field), fits: true }
  const change = Object.hasOwn(proposed, field) ? proposed[field] : undefined
  return change && 'set' in change
    ? { value: change.set, mapping: `${mapping(field)} unfit`, fits: false }
    : undefined
}
