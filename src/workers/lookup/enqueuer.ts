import type { Batch } from './batcher.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { Queues } from '../../queues/queues.ts'
import { startPollLoop, type PollLoop } from '../../timing/poll-loop.ts'
import type { LeaseOwner } from '../../store/ledger/lookup-leases.ts'
import type { LookupLedger } from '../../store/ledger/lookups.ts'

export interface EnqueuerOptions {
  lookups: Pick<LookupLedger, 'lease' | 'dropLeases'>
  queues: Pick<Queues, 'addLookups' | 'countLookups' | 'wasEmptied'>
  owner: LeaseOwner
  /** The most lookups that a lane may have in Redis, however large the run is. */
  highWater: number
  leaseMs: number
  /** Puts background lookups into batches. Hot ones are sent alone, at once. */
  batch: Batch
  now: () => Date
  idleMs: number
  onError: (error: unknown) => void
}

/**
 * Moves due lookups from SQL into the queue, up to the high-water mark, so that a run of a million records does not fill
 * Redis. The same loop puts back jobs that a crash or an emptied Redis has lost, and parked lookups that are due again. A
 * lease keeps it from adding a lookup twice. When the lease has run out, adding it again is harmless.
 */
export function startEnqueuer(options: EnqueuerOptions): PollLoop {
  const { lookups, queues, idleMs } = options

  async function round(): Promise<number> {
    if (await queues.wasEmptied()) await lookups.dropLeases()
    const moved = (await feed('hot')) + (await feed('background'))
    return moved > 0 ? idleMs / 10 : idleMs
  }

  async function feed(lane: Lane): Promise<number> {
    const ahead = await queues.countLookups(lane)
    const room = options.highWater - ahead
    // Leasing a handful at a time costs more than it gains, so a nearly full queue gets no more.
    if (room < options.highWater / 4) return 0
    const leasedUntil = new Date(options.now().getTime() + options.leaseMs)
    const keys = await lookups.lease(room, options.leaseMs, lane === 'hot', options.owner)
    await queues.addLookups(lane, lane === 'hot' ? keys : await options.batch(keys, leasedUntil), ahead)
    return keys.length
  }

  return startPollLoop({ name: 'enqueue lookups', work: round, pauseMs: idleMs, onError: options.onError })
}
