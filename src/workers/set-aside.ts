import type { FieldRule } from '../domain/policy.ts'
import type { FieldValue } from '../domain/record.ts'
import { sameValue } from '../domain/same-value.ts'
import type { SetAside } from '../store/field-writes.ts'

export interface SetAsideBy {
  /** How the values read once they stand in the record. */
  standing: Readonly<Record<string, FieldValue>>
  rule: (field: string) => FieldRule
  /** A digest of where a field goes. */
  mapping: (field: string) => string
}

/**
 * Fields that are not written again, by name: with the very value that was put back under the same rule and mapping, or
 * that the CRM refused under the same mapping. Pure.
 */
export function fieldsSetAside(
  values: readonly SetAside[],
  { standing, rule, mapping }: SetAsideBy,
): Map<string, SetAside> {
  const held = values.filter((each) => {
    const { field, value, why } = each
    const wanted = Object.hasOwn(standing, field) ? standing[field] : undefined
    if (wanted === undefined || each.mapping !== mapping(field) || !sameValue(field, wanted, value))
      return false
    return why === 'rejected' || each.rule === rule(field)
  })
  return new Map(held.map((each) => [each.field, each]))
}
