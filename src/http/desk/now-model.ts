import type { Atomic } from '../../domain/money.ts'
import { finalStatuses, type LiveRun, type MoneyNow, type ParkedGroup } from '../../store/views/desk-now.ts'
import type { RunHead } from '../../store/views/desk-runs.ts'
import type { KeptReconciliation } from '../../store/ledger/reconciliations.ts'
import { connectorName } from './view/format.ts'
import type { DeskPorts, PaceNow, QueueDepth } from './ports.ts'

/** Caps as the config has them; undefined is none. */
export interface DeskCaps {
  maxPriceAtomic: Atomic
  runAtomic?: Atomic
  dayAtomic?: Atomic
  monthAtomic?: Atomic
  connectorDayAtomic?: Record<string, Atomic>
}

/** Everything that the first page tells, at one moment. */
export interface NowModel {
  at: Date
  runs: LiveRun[]
  /** The last runs that ended, the latest first. */
  ended: RunHead[]
  parked: ParkedGroup[]
  open: { hot: number; bulk: number }
  money: MoneyNow
  wallet: Awaited<ReturnType<DeskPorts['wallet']>>
  pace: PaceNow | undefined
  queues: QueueDepth[]
  stopped: { reason: string; since: Date } | undefined
  reconciliation: KeptReconciliation | undefined
  alerts: { name: string; message: string; since: Date }[]
}

export interface RunProgress {
  ended: number
  /** Records that have not ended, parked ones apart. */
  open: number
  perSecond: number
  /** Undefined while it cannot be told: nothing moves, or the source is still read. */
  leftMs: number | undefined
}

/** How far a run is, by what ended within the last minute (or since it began, when that is less). */
export function progressOf(run: LiveRun, now: Date): RunProgress {
  const ended = finalStatuses.reduce((sum, status) => sum + run.counts[status], 0)
  const open = run.counts.queued + run.counts.looking_up + run.counts.ready
  const watchedMs = Math.min(60_000, Math.max(1_000, now.getTime() - run.startedAt.getTime()))
  const perSecond = run.endedLastMinute / (watchedMs / 1000)
  return {
    ended,
    open,
    perSecond,
    leftMs: perSecond > 0 && open > 0 && run.scanned ? (open / perSecond) * 1000 : undefined,
  }
}

const dayMs = 86_400_000

/**
 * How many days the wallet lasts at the pace of the last week, or of the days since the first charge when those are
 * fewer. Undefined where nothing was spent.
 */
export function daysLeft(balanceAtomic: Atomic, money: MoneyNow, now: Date): number | undefined {
  if (money.settledLastWeekAtomic === 0n || !money.firstAt) return undefined
  const days = Math.min(7, Math.max(1, (now.getTime() - money.firstAt.getTime()) / dayMs))
  return Number(balanceAtomic) / (Number(money.settledLastWeekAtomic) / days)
}

export interface BudgetBar {
  name: string
  usedAtomic: Atomic
  capAtomic: Atomic | undefined
}

/** The scopes of the budget that count now, in the words of pay/budget.ts, with what the page calls them. */
export function budgetScopes(
  now: Date,
  runs: readonly Pick<LiveRun, 'id' | 'connector' | 'entity'>[],
  connectors: readonly string[],
): { scope: string; name: string; cap: (caps: DeskCaps) => Atomic | undefined }[] {
  const day = now.toISOString().slice(0, 10)
  return [
    { scope: `day:${day}`, name: 'Today', cap: (caps) => caps.dayAtomic },
    { scope: `month:${day.slice(0, 7)}`, name: 'This month', cap: (caps) => caps.monthAtomic },
    ...connectors.map((connector) => ({
      scope: `connector:${connector}:${day}`,
      name: `${connectorName(connector)} today`,
      cap: (caps: DeskCaps) => caps.connectorDayAtomic?.[connector],
    })),
    ...runs.map((run) => ({
      scope: `run:${run.id}`,
      name: `This run of ${connectorName(run.connector)} ${run.entity}`,
      cap: (caps: DeskCaps) => caps.runAtomic,
    })),
  ]
}

export function budgetBars(
  model: Pick<NowModel, 'at' | 'runs' | 'money'>,
  caps: DeskCaps,
  connectors: readonly string[],
): BudgetBar[] {
  return budgetScopes(model.at, model.runs, connectors).map(({ scope, name, cap }) => ({
    name,
    usedAtomic: model.money.committed.get(scope) ?? 0n,
    capAtomic: cap(caps),
  }))
}

export interface Trouble {
  tone: 'warn' | 'danger'
  text: string
  href: string
}

const walletDays = 3
/** Where to look, by the condition of an alert (domain/alerts.ts). */
const alertPages: Record<string, string> = {
  wallet_low: '/spend',
  cap_reached: '/spend',
  reconciliation_difference: '/spend',
  error_rate: '/failures',
  nothing_written: '/runs',
  schedule_missed: '/settings',
}

/** What a person should look at, the worst first. Empty: all is well. */
export function troubles(model: NowModel, caps: DeskCaps): Trouble[] {
  const found: Trouble[] = []
  /** An alert of a condition that the page has found itself would say it twice. */
  const said = new Set<string>()
  function add(tone: Trouble['tone'], text: string, href: string, condition?: string): void {
    found.push({ tone, text, href })
    if (condition !== undefined) said.add(condition)
  }
  const { money, wallet, pace, reconciliation } = model
  if (model.stopped)
    add('danger', 'Spending is stopped: nothing is bought until somebody resumes', '#spending')
  if (reconciliation && reconciliation.differences > 0)
    add(
      'danger',
      'The ledger and the chain did not agree when they were last compared',
      '/spend',
      'reconciliation_difference',
    )
  if (wallet?.balanceAtomic !== undefined) {
    const left = daysLeft(wallet.balanceAtomic, money, model.at)
    if (wallet.balanceAtomic === 0n) add('danger', 'The wallet is empty', '/spend', 'wallet_low')
    else if (left !== undefined && left < walletDays)
      add(
        'warn',
        `The wallet lasts for about ${Math.max(0, left).toFixed(1)} more days`,
        '/spend',
        'wallet_low',
      )
  } else if (wallet) add('warn', 'The chain does not answer: the balance is not known', '/spend')
  if (!model.pace) add('danger', 'Redis does not answer: no work moves', '/queues')
  const dayCap = caps.dayAtomic
  const today = money.committed.get(`day:${model.at.toISOString().slice(0, 10)}`) ?? 0n
  if (dayCap !== undefined && today * 10n >= dayCap * 9n)
    add(
      'warn',
      today >= dayCap ? "Today's budget is used up" : "Today's budget is nearly used up",
      '/spend',
      'cap_reached',
    )
  const waitsForPerson = model.parked
    .filter(({ resumesAt, code }) => !resumesAt && code !== 'stopped')
    .reduce((sum, { records }) => sum + records, 0)
  if (waitsForPerson > 0)
    add(
      'warn',
      `${waitsForPerson} parked ${waitsForPerson === 1 ? 'record waits' : 'records wait'} for somebody to act`,
      '/failures',
    )
  if (pace && pace.limitedShare > 0.2)
    add(
      'warn',
      `The service refused ${Math.round(pace.limitedShare * 100)} % of the latest requests (429)`,
      '/',
    )
  if (money.inDoubt > 0)
    add(
      'warn',
      `${money.inDoubt} ${money.inDoubt === 1 ? 'payment is' : 'payments are'} in doubt; they are asked after by themselves`,
      '/spend',
    )
  for (const { name, message } of model.alerts) {
    if (!said.has(name)) add('warn', message, alertPages[name] ?? '/')
  }
  return found.sort((a, b) => (a.tone === b.tone ? 0 : a.tone === 'danger' ? -1 : 1))
}
