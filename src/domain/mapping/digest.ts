import { createHash } from 'node:crypto'
import type { FieldMapping } from './mapping.ts'

/** Returns a digest of a field's mapping: where it goes and how it is written there. It is stored with each write. */
export function mappingDigest(field: FieldMapping | undefined): string {
  if (!field) return 'none'
  const options = Object.entries(field.options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(
      JSON.stringify([field.property, field.as ?? null, options, ...(field.allowNew ? ['allowNew'] : [])]),
    )
    .digest('hex')
    .slice(0, 12)
}
