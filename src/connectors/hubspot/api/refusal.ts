import type { BatchError, Refusal } from './wire.ts'

/** The code of a refusal, and the property that caused it. */
export interface RefusalDetail {
  code: string
  property?: string
  /** The property whose value makes `property` required. */
  because?: string
}

/** A conditional rule of an administrator: the property that is named is one that was not sent. */
export const conditionallyRequired = 'MISSING_CONDITIONAL_REQUIRED_PROPERTY'

/**
 * Returns the code and the property of a refusal, of a whole call or of one record in a 207. HubSpot lists them under
 * `errors`, and in places only inside the text of the message. The text is searched for these two and never shown,
 * because it quotes values.
 */
export function readRefusal(refusal: Refusal | BatchError, status = 400): RefusalDetail {
  const [first] = refusal.errors ?? []
  const code = first?.code ?? /"error":"([A-Z][A-Z_0-9]*)"/.exec(refusal.message ?? '')?.[1]
  const property =
    first?.context?.['propertyName']?.[0] ?? /"name":"([a-z][a-z0-9_]*)"/.exec(refusal.message ?? '')?.[1]
  const because =
    code === conditionallyRequired
      ? /based on \[([a-z][a-z0-9_]*)\]/.exec(first?.message ?? '')?.[1]
      : undefined
  const isConflict = status === 409 || refusal.category === 'CONFLICT'
  return {
    code: code ?? refusal.category ?? `HTTP_${status}`,
    // The only property that must be unique by itself.
    ...(property !== undefined ? { property } : isConflict ? { property: 'email' } : {}),
    ...(because === undefined ? {} : { because }),
  }
}
