import { canonicalOf, type EntityMapping } from '../../domain/mapping/mapping.ts'
import { conditionallyRequired, type RefusalDetail } from './api/refusal.ts'
import { requiredReason } from './required.ts'

/** Returns a refusal in our words: its code, the canonical field where one is known, and a reason without any value. */
export function refusedRecord(
  {
    code,
    property,
    because,
  }: { [Name in keyof RefusalDetail]: RefusalDetail[Name] | undefined } & {
    code: string
  },
  sent: Readonly<Record<string, string>>,
  entityMap: EntityMapping,
): { code: string; field?: string; reason: string } {
  if (code === conditionallyRequired && property !== undefined) {
    // If our own value makes another property required, our value is the one refused: the rest can be written.
    const ours = because !== undefined && because in sent ? because : undefined
    const named = ours ?? property
    return { code, field: canonicalOf(entityMap, named) ?? named, reason: requiredReason(property, because) }
  }
  const field = property === undefined ? undefined : (canonicalOf(entityMap, property) ?? property)
  return {
    code,
    ...(field === undefined ? {} : { field }),
    reason: `HubSpot refused ${property === undefined ? 'the record' : `the value of "${property}"`}: ${code}`,
  }
}
