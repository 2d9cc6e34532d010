import { creditsFromUsd } from '../../domain/credits.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { BudgetLine } from '../../domain/ports/charge-journal.ts'
import { listLine, monitorLines, type MonitorCaps } from '../../pay/limits/budget.ts'
import type { ApiTokenLedger } from '../../store/access/api-tokens.ts'
import { monitorOfList } from '../config/watching/match-lists.ts'

const mostRemembered = 1_000

type Token = Awaited<ReturnType<ApiTokenLedger['ofRun']>>

export interface RunBudgetsOptions {
  tokens: Pick<ApiTokenLedger, 'ofRun'>
  /** Returns the list that a run buys for. */
  listOf: (runId: string) => Promise<string | undefined>
  /** By the name of a list, the most that is spent for it in a month. */
  listMonths: (name: string) => Atomic | undefined
  /** By the name of a monitor, the most that is spent on its matches. */
  matchCaps: (monitor: string) => MonitorCaps
}

export interface RunBudgets {
  /** Reads what a run decides of its budgets, once. */
  recall: (runId: string) => Promise<unknown>
  linesOf: (charge: { runId: string; now: Date; currency: Currency }) => Promise<BudgetLine[]>
}

/**
 * Makes the budget lines of a charge that its run decides: the day of the API token that asked for it, the month of the list
 * that it is bought for, and the day and month of the monitor whose match it serves. They are reserved in the charge's own
 * transaction like the other lines, so that concurrent charges never spend more than these caps. The month of a list is counted without a cap too, so that one that is set afterwards counts all.
 */
export function createRunBudgets({ tokens, listOf, listMonths, matchCaps }: RunBudgetsOptions): RunBudgets {
  /** Most charges belong to a few runs, and neither the token nor the list of a run ever changes. */
  const ofRun = new Map<string, Promise<{ token: Token; list: string | undefined }>>()

  async function linesOf(charge: { runId: string; now: Date; currency: Currency }): Promise<BudgetLine[]> {
    const { token, list } = await remembered(charge.runId)
    const match = list === undefined ? undefined : monitorOfList(list)
    return [
      ...(token && token.dayCapAtomic !== null ? [tokenLine(token.id, token.dayCapAtomic, charge)] : []),
      ...(list === undefined ? [] : [listLine(list, listMonths(list), charge)]),
      ...(match ? monitorLines(match.monitor, matchCaps(match.monitor), charge) : []),
    ]
  }

  function remembered(runId: string) {
    const known = ofRun.get(runId)
    if (known) return known
    const asked = Promise.all([tokens.ofRun(runId), listOf(runId)]).then(([token, list]) => ({ token, list }))
    // A read that failed is repeated.
    asked.catch(() => ofRun.delete(runId))
    if (ofRun.size >= mostRemembered) ofRun.clear()
    ofRun.set(runId, asked)
    return asked
  }

  return { recall: remembered, linesOf }
}

function tokenLine(
  id: string,
  dayCapAtomic: Atomic,
  { now, currency }: { now: Date; currency: Currency },
): BudgetLine {
  const isCredits = currency === 'credit'
  return {
    scope: `${isCredits ? 'credits:' : ''}token:${id}:${now.toISOString().slice(0, 10)}`,
    capAtomic: isCredits ? creditsFromUsd(dayCapAtomic) : dayCapAtomic,
    resumesAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)),
  }
}
