import type { FieldValue, Patch } from '../record.ts'
import type { RecordIdentity } from '../subjects/record-identities.ts'
import { identityText } from './judged-row.ts'

/** The identities that a record's key may stand for, the best first. A name names several companies. */
const keyKinds = ['profile', 'service_id', 'email', 'domain'] as const

/** Returns the text of which a record's key is the digest: its best identity. Undefined: nothing names it for certain. */
export function keyText(identities: readonly RecordIdentity[]): string | undefined {
  for (const kind of keyKinds) {
    // The same for all spellings: of several of a kind the first in the order of letters.
    const [first] = identities
      .filter((each) => each.kind === kind)
      .map(identityText)
      .sort()
    if (first !== undefined) return first
  }
  return undefined
}

export function patchOf(values: Readonly<Record<string, FieldValue>>): Patch {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, { set: value }]))
}
