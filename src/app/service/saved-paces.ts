import { defaultLearnerSettings, readLearner } from '../../queues/pacer/learner.ts'
import { snapshotOf } from '../../queues/pacer/snapshot.ts'
import { createPacerStateStore } from '../../store/ledger/pacer-state.ts'
import type { Context } from '../context/context.ts'

/** A limit of the service as it was learned and saved last. */
export interface SavedPace {
  /** The service's host, `:direct` for access by API key, and the kind of request where it is no lookup. */
  name: string
  perSecond: number
  /** Present where the service serves so many requests at a time. */
  atOnce?: number
  windows: { lengthMs: number; limit: number }[]
  /** Share of the requests that were refused in the last ten minutes of use, 0 to 1. */
  refusedShare: number
  savedAt: string
}

/** Returns the paces that are not too old to be used, by name. */
export async function savedPaces({ database, now }: Pick<Context, 'database' | 'now'>): Promise<SavedPace[]> {
  const saved = await createPacerStateStore(database.db, { now }).list()
  return saved.map(({ name, learned, savedAt }) => {
    const learner = readLearner(learned, defaultLearnerSettings)
    // Within a block the pace is that of its trials.
    const open = { ...learner, block: null }
    const { perSecond, atOnce, windows, limitedShare } = snapshotOf(open, open.lastAtMs)
    return {
      name,
      perSecond,
      ...(atOnce !== undefined && { atOnce }),
      windows: windows.map(({ lengthMs, limit }) => ({ lengthMs, limit })),
      refusedShare: limitedShare,
      savedAt: savedAt.toISOString(),
    }
  })
}
