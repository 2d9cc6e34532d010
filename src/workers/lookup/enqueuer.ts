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
  /** The most jobs that may stand in Redis for a lane, whatever the size of the run. */
  highWater: number
  leaseMs: number
  /** Puts bulk work together; a button's goes alone, at once. */
  bundle: Batch
  now: () => Date
  idleMs: number
  onError: (error: unknown) => void
}

/**
 * Moves due lookups from SQL into the queue, never more than the high-water mark: this is the gate that keeps a million
 * records out of Redis, and the same loop puts back what a crash or an emptied Redis has lost, and what was parked and
 * is due again. A lease keeps it from adding the same lookup twice; when it runs out, adding again is harmless.
 */
export function startEnqueuer(options: EnqueuerOptions): PollLoop {
  const { lookups, queues, idleMs } = options

  async function round(): Promise<number> {
    if (await queues.wasEmptied()) await lookups.dropLeases()
    const moved = (await feed('hot')) + (await feed('background'))
    return moved > 0 ? idleMs / 10 : idleMs
  }

  async function feed(lane: Lane): Promise<number> {
    const room = options.highWater - (await queues.countLookups(lane))
    // A nearly full queue is left alone: leasing a handful at a time costs more than it brings.
    if (room < options.highWater / 4) return 0
    const leasedUntil = new Date(options.now().getTime() + options.leaseMs)
    const keys = await lookups.lease(room, options.leaseMs, lane === 'hot', options.owner)
    await queues.addLookups(lane, lane === 'hot' ? keys : await options.bundle(keys, leasedUntil))
    return keys.length
  }

  return startPollLoop({ work: round, pauseMs: idleMs, onError: options.onError })
}
