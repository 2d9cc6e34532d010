import { createHash } from 'node:crypto'
import type { FieldValue, Patch } from '../record.ts'
import type { RecordIdentity } from '../subjects/record-identities.ts'
import { identityText } from './judged-row.ts'
import type { ListRow } from './list-row.ts'

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

/**
 * Returns the key of a record that is to be made, the same for all spellings. Undefined: nothing names it for certain. A person who has a
 * record at another employer (`besides`) is not named by the profile, which that record has too.
 */
export function recordKeyOf({
  identities,
  besides = [],
}: Pick<ListRow, 'identities' | 'besides'>): string | undefined {
  const own = besides.length === 0 ? identities : identities.filter(({ kind }) => kind !== 'profile')
  const text = keyText(own)
  return text === undefined ? undefined : createHash('sha256').update(text).digest('hex').slice(0, 32)
}

export function patchOf(values: Readonly<Record<string, FieldValue>>): Patch {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, { set: value }]))
}
