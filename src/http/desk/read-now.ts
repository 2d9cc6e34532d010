import { liveRuns, moneyNow, openLookups, parkedGroups } from '../../store/views/desk-now.ts'
import { runHeads } from '../../store/views/desk-runs.ts'
import { lastReconciliation } from '../../store/ledger/reconciliations.ts'
import type { DeskOptions } from './desk.ts'
import { budgetScopes, type NowModel } from './now-model.ts'

const mostRuns = 8
const endedShown = 3

/** Reads the first page's whole state. What does not answer is undefined in it: a page about trouble must come up in trouble. */
export async function readNow(
  desk: Pick<DeskOptions, 'db' | 'now' | 'ports' | 'spendSwitch'>,
): Promise<NowModel> {
  const { db, ports } = desk
  const at = desk.now()
  const runs = await liveRuns(db, at, mostRuns)
  const connectors = ports.syncable().map(({ connector }) => connector)
  const scopes = budgetScopes(at, runs, connectors).map(({ scope }) => scope)
  const heads = await runHeads(db, { limit: mostRuns + endedShown })
  const ended = heads.filter(({ finishedAt }) => finishedAt !== null).slice(0, endedShown)
  const [parked, open, money, stopped, reconciliation, wallet, pace, queues, alerts] = await Promise.all([
    parkedGroups(db),
    openLookups(db),
    moneyNow(db, at, scopes),
    desk.spendSwitch.isStopped(),
    lastReconciliation(db),
    ports.wallet(),
    ports.pace(),
    ports.queues(),
    ports.alerts?.() ?? [],
  ])
  return { at, runs, ended, parked, open, money, stopped, reconciliation, wallet, pace, queues, alerts }
}
