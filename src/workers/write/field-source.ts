import type { LookupKey } from '../../domain/keys.ts'
import { slotRow } from '../../domain/operations.ts'
import { toldBy } from '../../domain/signals/told-by.ts'
import { slotIn } from '../../domain/planning/step.ts'
import type { ObjectKind } from '../../domain/words.ts'

/** Returns the lookup that told a field of a record: of the lookups made for it, the last one that can tell the field. */
export function sourceOf(field: string, object: ObjectKind, steps: readonly LookupKey[]): LookupKey | null {
  const told = steps.findLast((key) => {
    const slot = slotIn(key)
    return slot !== undefined && slotRow(slot).tells[object].includes(field)
  })
  return toldBy(field, steps) ?? told ?? steps.at(-1) ?? null
}
