import type { Atomic } from '../../../domain/money.ts'
import type { SavedReconciliation } from '../../../store/chain/reconciliations.ts'
import {
  finalStatuses,
  type LiveRun,
  type MoneyNow,
  type ParkedGroup,
} from '../../../store/views/desk-now.ts'
import type { RunHead } from '../../../store/views/desk-runs.ts'
import type { DeskPorts, PaceNow, QueueDepth } from './ports.ts'

/** The parts of the ledger that the page "Now" shows. */
export interface LedgerNow {
  runs: LiveRun[]
  /** The runs that ended last, the latest first. */
  ended: RunHead[]
  parked: ParkedGroup[]
  /** Waiting lookups; see `openLookups`. */
  open: { hot: number; background: number; retrying: number }
  money: MoneyNow
  stopped: { reason: string; since: Date } | undefined
  reconciliation: SavedReconciliation | undefined
  alerts: { name: string; message: string; since: Date }[]
}

/** The state that the page "Now" shows, read at one moment. */
export interface NowModel extends LedgerNow {
  at: Date
  /** While the database does not respond: when the figures of the ledger were read; undefined when they never were. */
  ledgerAway?: { readAt: Date | undefined }
  wallet: Awaited<ReturnType<DeskPorts['wallet']>>
  pace: PaceNow | undefined
  queues: QueueDepth[]
}

const leastWatchedMs = 3_000
const leastEnded = 10

export interface RunProgress {
  ended: number
  /** Records that are neither ended nor parked. */
  open: number
  perSecond: number
  /** Undefined while it cannot be estimated: nothing moves, or the source is still being read. */
  leftMs: number | undefined
}

/**
 * Estimates a run's progress from the records that ended within the last minute, or since the first of them did: a run that was
 * resumed a moment ago is not slow because it was stopped before. A few seconds are no basis for a time.
 */
export function progressOf(run: LiveRun, now: Date): RunProgress {
  const ended = finalStatuses.reduce((sum, status) => sum + run.counts[status], 0)
  const open = run.counts.queued + run.counts.looking_up + run.counts.ready
  // The first of a few records says little about when the others could have begun to end.
  const first = run.endedLastMinute >= leastEnded ? (run.endedFrom?.getTime() ?? 0) : 0
  const since = Math.max(run.startedAt.getTime(), first)
  const watchedMs = Math.min(60_000, Math.max(1_000, now.getTime() - since))
  const perSecond = run.endedLastMinute / (watchedMs / 1000)
  return {
    ended,
    open,
    perSecond,
    leftMs:
      perSecond > 0 && open > 0 && run.scanned && watchedMs >= leastWatchedMs
        ? (open / perSecond) * 1000
        : undefined,
  }
}

const dayMs = 86_400_000
const leastDays = 2

/**
 * Returns how many days the wallet lasts at the rate of the last week, or of the days since the first charge if those are
 * fewer. Undefined when nothing was spent, and in the first two days: one afternoon is no rate.
 */
export function daysLeft(balanceAtomic: Atomic, money: MoneyNow, now: Date): number | undefined {
  if (money.settledLastWeekAtomic === 0n || !money.firstAt) return undefined
  const days = Math.min(7, (now.getTime() - money.firstAt.getTime()) / dayMs)
  if (days < leastDays) return undefined
  return Number(balanceAtomic) / (Number(money.settledLastWeekAtomic) / days)
}
