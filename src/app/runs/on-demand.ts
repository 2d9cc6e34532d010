import { setTimeout } from 'node:timers/promises'
import { describeError } from '../../domain/errors.ts'
import type { Connector } from '../../connectors/connector.ts'
import { createOnDemand, type OnDemand, type OnDemandOptions } from '../../producers/on-demand.ts'
import { goFirst } from '../../store/database/go-first.ts'
import { createOnDemandLedger } from '../../store/runs/on-demand-tasks.ts'
import { createAdvance } from '../../planning/advance.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { priceRefusal } from './price-refusal.ts'
import { makeReady } from './sync.ts'
import { moduleLog } from '../context/log.ts'

/** As long as a lookup takes from the queue to the service, on a busy machine. */
const letGoMs = 25

/** Opens the producer that makes tasks of records by their ids, over the ledger of this context. */
export function openOnDemand(
  context: Context,
  options: {
    onReady: (group: { connector: string; entity: string }) => void
    onError?: ((error: unknown) => void) | undefined
    /** Called with lookups of the hot lane, in a process that has the queue: they need not wait for the enqueuer. */
    onHot?: OnDemandOptions['onHot']
  },
): OnDemand {
  const { database, log, lookups, now, planning, runs, tasks } = context
  const advance = createAdvance({
    ...planning,
    onReady: options.onReady,
    // The enqueuer of the process with the worker role polls several times a second.
    onWanted: () => {},
  })
  const ready = createReadiness()
  const onDemand = createOnDemand({
    ledger: createOnDemandLedger(database.db, { now }),
    runs,
    tasks,
    lookups,
    planner: planning.planner,
    closedFields: planning.closedFields,
    beforePlanning: () => context.suppressions.look(),
    advance,
    connector: (name) => context.connectors.get(name),
    ready,
    refusal: (connector, run) => priceRefusal(context, connector, run),
    recipeFor(object, name) {
      try {
        return context.config.recipes(object, name).name
      } catch {
        return context.config.recipes(object, context.config.defaultRecipe).name
      }
    },
    now,
    onHot: options.onHot,
    letGo: () => setTimeout(letGoMs),
    newRunId: () => newRunId(context),
    onError:
      options.onError ??
      ((error) =>
        moduleLog(log, 'runs').warn(
          { problem: describeError(error) },
          'on-demand records wait: they could not be read yet',
        )),
  })
  return {
    ...onDemand,
    request: (asked) =>
      asked.trigger === 'button' ? goFirst(() => onDemand.request(asked)) : onDemand.request(asked),
  }
}

/** Checks what a sync checks at its start, once a process and entity. A failed check is repeated at the next request. */
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
