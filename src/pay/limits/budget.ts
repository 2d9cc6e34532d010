import { creditsFromUsd } from '../../domain/credits.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { BudgetLine } from '../../domain/ports/charge-journal.ts'

/** The caps in force. Undefined means no cap. */
export interface Caps {
  runAtomic?: Atomic
  dayAtomic?: Atomic
  monthAtomic?: Atomic | undefined
  /** Daily caps by connector. */
  connectorDayAtomic?: Record<string, Atomic> | undefined
  /** In millionths of a credit, for direct access. */
  creditsRun?: bigint | undefined
  creditsDay?: bigint | undefined
}

/**
 * Returns the budget lines that a charge of this run counts against at this time. Windows are calendar days and months
 * in UTC, so that two hosts always agree on the current window. Every window is counted, capped or not, so that reports
 * and a cap that is set afterwards use true figures.
 */
export function budgetLines(
  charge: { runId: string; connector: string; now: Date; currency: Currency },
  caps: Caps,
): BudgetLine[] {
  const { runId, connector, now } = charge
  const day = now.toISOString().slice(0, 10)
  const nextDay = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1))
  const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  if (charge.currency === 'credit') {
    return [
      { scope: `credits:run:${runId}`, capAtomic: caps.creditsRun ?? unlimited },
      { scope: `credits:day:${day}`, capAtomic: caps.creditsDay ?? unlimited, resumesAt: nextDay },
    ]
  }
  return [
    { scope: `run:${runId}`, capAtomic: caps.runAtomic ?? unlimited },
    { scope: `day:${day}`, capAtomic: caps.dayAtomic ?? unlimited, resumesAt: nextDay },
    { scope: `month:${day.slice(0, 7)}`, capAtomic: caps.monthAtomic ?? unlimited, resumesAt: nextMonth },
    {
      scope: `connector:${connector}:${day}`,
      capAtomic: caps.connectorDayAtomic?.[connector] ?? unlimited,
      resumesAt: nextDay,
    },
  ]
}

/** Returns the line of a list in its calendar month (UTC). Credits count apart, as in every window; the cap is in USD for both. */
export function listLine(
  list: string,
  capAtomic: Atomic | undefined,
  { now, currency }: { now: Date; currency: Currency },
): BudgetLine {
  const isCredits = currency === 'credit'
  const cap = capAtomic !== undefined && isCredits ? creditsFromUsd(capAtomic) : capAtomic
  return {
    scope: `${isCredits ? 'credits:' : ''}list:${list}:${now.toISOString().slice(0, 7)}`,
    capAtomic: cap ?? unlimited,
    resumesAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
  }
}

/** The caps of a monitor's matches in a calendar day and month (UTC). */
export interface MonitorCaps {
  dayAtomic: Atomic | undefined
  monthAtomic: Atomic | undefined
}

/** Returns the lines of a monitor's matches, whose companies and people share them. Both are counted without a cap too. */
export function monitorLines(
  monitor: string,
  { dayAtomic, monthAtomic }: MonitorCaps,
  { now, currency }: { now: Date; currency: Currency },
): BudgetLine[] {
  const isCredits = currency === 'credit'
  const scope = `${isCredits ? 'credits:' : ''}monitor:${monitor}`
  const day = now.toISOString().slice(0, 10)
  const capOf = (atomic: Atomic | undefined) =>
    (atomic !== undefined && isCredits ? creditsFromUsd(atomic) : atomic) ?? unlimited
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return [
    {
      scope: `${scope}:${day}`,
      capAtomic: capOf(dayAtomic),
      resumesAt: new Date(Date.UTC(year, month, now.getUTCDate() + 1)),
    },
    {
      scope: `${scope}:${day.slice(0, 7)}`,
      capAtomic: capOf(monthAtomic),
      resumesAt: new Date(Date.UTC(year, month + 1, 1)),
    },
  ]
}

/** The largest amount that fits into the ledger's columns. */
const unlimited: Atomic = 2n ** 63n - 1n
