import type { Database } from '../../../store/database/database.ts'
import { lastReconciliation } from '../../../store/chain/reconciliations.ts'
import type { SpendSwitch } from '../../../store/ledger/spend-switch.ts'
import { liveRuns, moneyNow, openLookups, parkedGroups } from '../../../store/views/desk-now.ts'
import { runHeads } from '../../../store/views/desk-runs.ts'
import { budgetScopes } from './budgets.ts'
import type { NowModel } from './now.ts'
import type { DeskPorts } from './ports.ts'

const mostRuns = 8
const endedShown = 3

/**
 * Reads the state of the page "Now". A source that does not respond is undefined in it, because this page has to come up
 * when something is down.
 */
export async function readNow({
  db,
  ports,
  now,
  spendSwitch,
}: {
  db: Database
  ports: DeskPorts
  now: () => Date
  spendSwitch: Pick<SpendSwitch, 'isStopped'>
}): Promise<NowModel> {
  const at = now()
  const runs = await liveRuns(db, at, mostRuns)
  const connectors = ports.syncable().map(({ connector }) => connector)
  const scopes = budgetScopes(at, runs, connectors).map(({ scope }) => scope)
  const heads = await runHeads(db, { limit: mostRuns + endedShown })
  const ended = heads.filter(({ finishedAt }) => finishedAt !== null).slice(0, endedShown)
  const [parked, open, money, stopped, reconciliation, wallet, pace, queues, alerts] = await Promise.all([
    parkedGroups(db),
    openLookups(db),
    moneyNow(db, at, scopes),
    spendSwitch.isStopped(),
    lastReconciliation(db),
    ports.wallet(),
    ports.pace(),
    ports.queues(),
    ports.alerts?.() ?? [],
  ])
  return { at, runs, ended, parked, open, money, stopped, reconciliation, wallet, pace, queues, alerts }
}
