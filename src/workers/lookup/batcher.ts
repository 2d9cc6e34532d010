import type { LookupKey } from '../../domain/keys.ts'
import { batchKey } from '../../domain/keys.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../../domain/subjects/traces.ts'
import type { Operation } from '../../domain/words.ts'
import { batchGroup, batchSize, prepareBatch } from '../../service/batch.ts'
import type { Batchable, BatchLedger } from '../../store/ledger/batches.ts'

export interface BatcherOptions {
  batches: Pick<BatchLedger, 'batchable' | 'form'>
  serviceUrl: string
  /** The most lookups that go out in one request; 1: each alone. */
  sizes: Readonly<Partial<Record<Operation, number>>>
  /** Returns the indexes of the suppressed subjects, which do not go into a batch. */
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  /** Returns true for an operation whose batches were refused or could not be read: its lookups go alone. */
  hasNoBatches: (operation: Operation) => Promise<boolean>
  newId: () => string
  now: () => Date
}

/** Puts leased lookups into batches. Returns the keys to queue: those of batches, and those of single lookups. */
export type Batch = (keys: readonly LookupKey[], leasedUntil: Date) => Promise<LookupKey[]>

/**
 * Forms batches of waiting lookups. Only lookups that were never tried are batched, so that none is asked for twice. A
 * batch that cannot be formed as a whole leaves its lookups single.
 */
export function createBatcher(options: BatcherOptions): Batch {
  const sizes = new Map(
    (Object.entries(options.sizes) as [Operation, number][])
      .map(([operation, size]) => [operation, batchSize(operation, size)] as const)
      .filter(([, size]) => size > 1),
  )

  return async (keys, leasedUntil) => {
    if (sizes.size === 0 || keys.length < 2) return [...keys]
    const waiting = await options.batches.batchable(keys, [...sizes.keys()])
    const suppressed = await options.suppressed(() => waiting.map(({ key }) => identifiersOfKey(key)))
    const free = waiting.filter((_, index) => !suppressed.has(index))
    const alone = new Set<Operation>()
    for (const operation of new Set(free.map((lookup) => lookup.operation)))
      if (await options.hasNoBatches(operation)) alone.add(operation)
    const groups = Map.groupBy(free, (lookup) => {
      if (alone.has(lookup.operation)) return undefined
      const group = batchGroup(lookup.operation, lookup.request)
      return group && `${group} ${lookup.runId} ${lookup.connector}`
    })
    groups.delete(undefined)
    const batched = new Set<LookupKey>()
    const formed: LookupKey[] = []
    for (const group of groups.values()) {
      const size = sizes.get((group[0] as Batchable).operation) ?? 1
      for (let from = 0; from + 1 < group.length; from += size) {
        const members = group.slice(from, from + size)
        const key = members.length > 1 ? await form(members, leasedUntil) : undefined
        if (!key) continue
        formed.push(key)
        for (const member of members) batched.add(member.key)
      }
    }
    return [...formed, ...keys.filter((key) => !batched.has(key))]
  }

  async function form(lookups: readonly Batchable[], leasedUntil: Date): Promise<LookupKey | undefined> {
    const [{ operation, runId, connector }] = lookups as [Batchable]
    const { request, sent, skipped } = prepareBatch(
      options.serviceUrl,
      operation,
      lookups.map(({ request }) => request),
    )
    // A lookup that the service cannot search by is sent alone, and is refused with its own reason.
    if (skipped.length > 0) return undefined
    const key = batchKey(options.newId())
    const members = sent.flatMap((indexes, place) =>
      indexes.map((index) => ({ key: (lookups[index] as Batchable).key, place })),
    )
    const isFormed = await options.batches.form(
      { key, operation, request: request as LookupRequest, runId, connector, members },
      leasedUntil,
    )
    return isFormed ? key : undefined
  }
}
