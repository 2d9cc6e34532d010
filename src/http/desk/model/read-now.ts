import { lastReconciliation } from '../../../store/chain/reconciliations.ts'
import type { Database } from '../../../store/database/database.ts'
import type { SpendSwitch } from '../../../store/ledger/spend-switch.ts'
import { liveRuns, moneyNow, openLookups, parkedGroups } from '../../../store/views/desk-now.ts'
import { runHeads } from '../../../store/views/desk-runs.ts'
import { budgetScopes } from './budgets.ts'
import type { LedgerNow, NowModel } from './now.ts'
import type { DeskPorts } from './ports.ts'
import { createPrompt } from './readings.ts'
import { StoreAwayError, type StoreWatch } from './store-watch.ts'

const mostRuns = 8
const endedShown = 3
/** The ledger may be slow, and then the page waits; it is the watch that says when the database is away. */
const ledgerPatienceMs = 30_000

interface NowSources {
  db: Database
  ports: DeskPorts
  now: () => Date
  spendSwitch: Pick<SpendSwitch, 'isStopped'>
  watch: StoreWatch
  onError: (error: unknown) => void
}

/**
 * Returns the reader of the page "Now". A source that does not respond is undefined in what it reads, because this page has
 * to come up when something is down. While the database is away, the figures that were read last stay, with their time.
 */
export function createNowReader(sources: NowSources): () => Promise<NowModel> {
  const { ports, now, watch, onError } = sources
  const readOnce = createPrompt(() => readLedger(sources), ledgerPatienceMs)
  let last: { ledger: LedgerNow; at: Date } | undefined
  let wasAway = false

  async function ledgerNow(): Promise<Pick<NowModel, 'ledgerAway'> & LedgerNow> {
    try {
      const ledger = await watch.guard(readOnce())
      last = { ledger, at: now() }
      wasAway = false
      return ledger
    } catch (error) {
      if (!(error instanceof StoreAwayError)) throw error
      // Once an outage: open pages ask every second.
      if (!wasAway) onError(error)
      wasAway = true
      return { ...(last?.ledger ?? nothing), ledgerAway: { readAt: last?.at } }
    }
  }

  return async () => {
    const [ledger, wallet, pace, queues] = await Promise.all([
      ledgerNow(),
      ports.wallet(),
      ports.pace(),
      ports.queues(),
    ])
    return { at: now(), ...ledger, wallet, pace, queues }
  }
}

async function readLedger({ db, ports, now, spendSwitch }: NowSources): Promise<LedgerNow> {
  const at = now()
  const runs = await liveRuns(db, at, mostRuns)
  const connectors = ports.syncable().map(({ connector }) => connector)
  const scopes = budgetScopes(at, runs, connectors).map(({ scope }) => scope)
  const heads = await runHeads(db, { limit: mostRuns + endedShown })
  const ended = heads.filter(({ finishedAt }) => finishedAt !== null).slice(0, endedShown)
  const [parked, open, money, stopped, reconciliation, alerts] = await Promise.all([
    parkedGroups(db),
    openLookups(db),
    moneyNow(db, at, scopes),
    spendSwitch.isStopped(),
    lastReconciliation(db),
    ports.alerts?.() ?? [],
  ])
  return { runs, ended, parked, open, money, stopped, reconciliation, alerts }
}

/** For a page that was never read before: it shows none of these. */
const nothing: LedgerNow = {
  runs: [],
  ended: [],
  parked: [],
  open: { hot: 0, background: 0, retrying: 0 },
  money: {
    committed: new Map(),
    settledTodayAtomic: 0n,
    settledLastDayAtomic: 0n,
    settledLastWeekAtomic: 0n,
    firstAt: null,
    inDoubtAtomic: 0n,
    inDoubt: 0,
    lostAtomic: 0n,
  },
  stopped: undefined,
  reconciliation: undefined,
  alerts: [],
}
