import { describeError } from '../../domain/errors.ts'
import type { Connector } from '../../connectors/connector.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { createOnDemand, type OnDemand } from '../../producers/on-demand.ts'
import { createOnDemandLedger } from '../../store/runs/on-demand-tasks.ts'
import { createAdvance } from '../../planning/advance.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { makeReady } from './sync.ts'

/** What makes tasks of records by their ids, over the ledger of this context. */
export function openOnDemand(
  context: Context,
  options: {
    onReady: (group: { connector: string; entity: string }) => void
    onError?: (error: unknown) => void
    /** Where the queue is at hand: lookups that somebody waits for need not be found by a feeder first. */
    onHot?: (keys: LookupKey[]) => void
  },
): OnDemand {
  const { database, log, lookups, now, planning, runs } = context
  const advance = createAdvance({
    ...planning,
    onReady: options.onReady,
    // The feeder of whichever process works looks several times a second.
    onWanted: () => {},
  })
  const ready = createReadiness()
  return createOnDemand({
    ledger: createOnDemandLedger(database.db, { now }),
    runs,
    lookups,
    planner: planning.planner,
    advance,
    connector: (name) => context.connectors.get(name),
    ready,
    now,
    ...(options.onHot ? { onHot: options.onHot } : {}),
    newRunId: () => newRunId(context),
    onError:
      options.onError ??
      ((error) => log.warn({ problem: describeError(error) }, 'records that were asked for wait')),
  })
}

/** What a sync makes sure of at its start, once a process and entity; what was missing is looked for again. */
function createReadiness() {
  const known = new Map<string, Promise<void>>()
  return function ready(connector: Connector, entity: string): Promise<void> {
    const name = `${connector.name}/${entity}`
    const before = known.get(name)
    if (before) return before
    const made = makeReady(connector, [entity])
    known.set(name, made)
    made.catch(() => known.delete(name))
    return made
  }
}
