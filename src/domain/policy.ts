import type { FieldValue, Patch } from './record.ts'

/**
 * Keeps of a patch only what may be written over the values that stand in the record now. `fill_blank`: a field that
 * holds anything stays as it is. Deciding twice gives the same: the result of a result is itself.
 */
export function fillBlank(current: Record<string, FieldValue>, proposed: Patch): Patch {
  return Object.fromEntries(Object.entries(proposed).filter(([name]) => !(name in current)))
}
