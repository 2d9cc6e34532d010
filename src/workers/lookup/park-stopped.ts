import type { OperationStoppedError } from '../../domain/errors.ts'
import { isBatchKey } from '../../domain/keys.ts'
import type { Advance } from '../../planning/advance.ts'
import type { BatchLedger } from '../../store/ledger/batches.ts'
import type { LookupLedger, LookupRow } from '../../store/ledger/lookups.ts'

export interface ParkStoppedOptions {
  lookups: Pick<LookupLedger, 'park' | 'fail'>
  batches: Pick<BatchLedger, 'members'>
  advance: Pick<Advance, 'advanceTasksPast'>
}

/**
 * Parks lookups of a stopped operation. Records that have something without it go on first: a record that is parked looks
 * finished to its run. A batch is taken apart, and its lookups go alone; one that was paid for keeps waiting for its answer.
 *
 * Crash windows: killed after records have moved on, the lookup is still due, and is parked by the next process. Killed after
 * it is parked, records that came to wait for it meanwhile are parked with it.
 */
export function createParkStopped({ lookups, batches, advance }: ParkStoppedOptions) {
  return async function parkStopped(
    { key, queryId }: LookupRow,
    { code, message: reason }: OperationStoppedError,
  ): Promise<'ended' | undefined> {
    if (isBatchKey(key) && !queryId) {
      await lookups.fail(key, reason)
      return 'ended'
    }
    const keys = isBatchKey(key) ? (await batches.members(key)).map((member) => member.key) : [key]
    await advance.advanceTasksPast(keys, reason)
    await lookups.park(key, null, { code, reason })
    // Those that have come to wait for it in between.
    await advance.advanceTasksPast(keys, reason)
    return undefined
  }
}
