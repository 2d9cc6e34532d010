import type { LookupKey } from '../../domain/keys.ts'
import { isFreeOperation } from '../../domain/operations.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../../domain/subjects/traces.ts'
import type { Payer } from '../../pay/payer.ts'
import type { PermitAhead, Unanswered } from '../../pay/purchase.ts'
import type { Operation } from '../../domain/words.ts'

export interface ReadAhead {
  earlier?: Promise<Unanswered>
  suppressed?: Promise<boolean>
  /** Given back by whoever asked for it, where it was not taken. */
  permit?: PermitAhead | undefined
}

interface Suppressed {
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
}

/**
 * Asks for what a press needs beside the lookup's own row, and not after it: its earlier charges, the list of the suppressed, what its
 * run decides of the budgets, and a permit. A lookup that turns out to have ended has asked in vain.
 */
export function readAhead(
  { key, runId }: { key: LookupKey; runId: string | undefined },
  options: Suppressed & { payer: Pick<Payer, 'earlier' | 'recall' | 'permitAhead'> },
): ReadAhead {
  const { payer } = options
  const operation = key.slice(0, key.indexOf('|')) as Operation
  const permit = isFreeOperation(operation) ? undefined : payer.permitAhead('hot', operation)
  if (runId !== undefined) void payer.recall(runId)
  const reads = { earlier: payer.earlier(key), suppressed: isSuppressed(key, options) }
  // An error is that of whoever needs it.
  for (const read of Object.values(reads)) read.catch(() => {})
  return { ...reads, permit }
}

export async function isSuppressed(key: LookupKey, { suppressed }: Suppressed): Promise<boolean> {
  return (await suppressed(() => [identifiersOfKey(key)])).has(0)
}
