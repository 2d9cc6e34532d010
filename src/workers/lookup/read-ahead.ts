import type { LookupKey } from '../../domain/keys.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../../domain/subjects/traces.ts'
import type { Payer } from '../../pay/payer.ts'
import type { Unanswered } from '../../pay/purchase.ts'

export interface ReadAhead {
  earlier?: Promise<Unanswered>
  suppressed?: Promise<boolean>
}

interface Suppressed {
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
}

/**
 * Asks what a press needs to know of its lookup beside the lookup's own row, and not after it. A lookup that turns out to have ended
 * has asked in vain.
 */
export function readAhead(
  key: LookupKey,
  options: Suppressed & { payer: Pick<Payer, 'earlier'> },
): ReadAhead {
  const ahead = { earlier: options.payer.earlier(key), suppressed: isSuppressed(key, options) }
  // An error is that of whoever needs it.
  for (const read of Object.values(ahead)) read.catch(() => {})
  return ahead
}

export async function isSuppressed(key: LookupKey, { suppressed }: Suppressed): Promise<boolean> {
  return (await suppressed(() => [identifiersOfKey(key)])).has(0)
}
