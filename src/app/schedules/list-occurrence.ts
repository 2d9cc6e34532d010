import type { Connector } from '../../connectors/connector.ts'
import { parseUsd } from '../../domain/money.ts'
import type { Occurrence, OccurrenceList } from '../../store/runs/schedule-occurrences.ts'
import type { ScheduleLedger } from '../../store/runs/schedules.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { assertMaking } from '../lists/making/may-make.ts'
import { listCalls, listNamed } from '../lists/pages/list-calls.ts'
import { refreshList, refreshText } from '../lists/running/refresh-list.ts'
import { makeReady } from '../runs/sync.ts'
import { windowOf } from './occurrence-window.ts'

interface ListOccurrenceOptions {
  ledger: Pick<ScheduleLedger, 'finishOccurrence' | 'setRun'>
  connectorOf: (name: string) => Promise<Connector>
  holder: string
  /** Fires when this process ends. */
  signal: AbortSignal
}

/** Between two tries while the CRM or another list has to be waited for. */
const waitsMs = 900_000

/**
 * Runs the list of an occurrence: within its budget, until its window ends. The lease of the occurrence holds all the while, so that no
 * other occurrence works on the same object. A process that dies loses it, and the next one goes on where the list was.
 */
export async function runListOccurrence(
  context: Context,
  options: ListOccurrenceOptions,
  occurrence: Occurrence & { list: OccurrenceList },
  lost: AbortSignal,
): Promise<void> {
  const { ledger, holder } = options
  const { id, list, entity, stopAt } = occurrence
  const finish = ledger.finishOccurrence.bind(ledger, id, holder)
  const connector = await options.connectorOf(occurrence.connector)
  await makeReady(connector, [entity])
  const window = windowOf(context, stopAt, [options.signal, lost])
  const { signal } = window
  const calls = await listCalls(context, list.name, { asks: true, reads: signal })
  const refresh = await refreshList(context, calls, {
    connector,
    budgetAtomic: parseUsd(list.budgetUsd),
    reachableOnly: list.reachableOnly,
    signal,
  })
  const runId = refresh.run?.applied?.runId
  if (runId !== undefined) await ledger.setRun(id, holder, runId)
  const reason = refreshText(refresh)
  if (refresh.end === 'interrupted') {
    if (window.hasEnded()) return finish({ state: 'stopped', reason: `its window ended: ${reason}` })
    return lost.aborted || !options.signal.aborted
      ? finish({ state: 'handed_over', reason })
      : finish({ state: 'due', reason, notBefore: context.now() })
  }
  if (refresh.end === 'parked' && refresh.run?.applied)
    return finish({ state: 'due', reason, notBefore: new Date(context.now().getTime() + waitsMs) })
  // A person has to look at these: the alert of schedules names them.
  if (['unusable', 'failed', 'cut'].includes(refresh.end)) return finish({ state: 'failed', reason })
  await finish({ state: 'handed_over', reason })
}

/** True for the occurrence of a list, false for that of a sync. */
export function isOfList(occurrence: Occurrence): occurrence is Occurrence & { list: OccurrenceList } {
  return occurrence.list !== undefined
}

/** Returns the entity of a list's records. Throws ConfigError where none can be made of it. */
export function assertListed(config: Pick<Config, 'lists'>, connector: Connector, list: string): string {
  const settings = listNamed(config, list)
  assertMaking(connector, settings, list)
  return settings.into.entity
}
