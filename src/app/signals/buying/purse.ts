import { formatUsd, type Atomic } from '../../../domain/money.ts'
import type { Fact } from '../../../domain/record.ts'
import type { Operation } from '../../../domain/words.ts'
import { usualPageSize } from '../../../service/calls/guard-limits.ts'
import type { Context } from '../../context/context.ts'
import { listMonth } from '../../money/list-months.ts'
import { faultsOf, pageOf } from '../../service/call-result.ts'
import { assertBuyable } from '../../service/assert-buyable.ts'
import { openCalls, type CallEnd, type CallSession } from '../../service/call-session.ts'
import { knownOfAccount, withAcceptedNames } from '../../service/known-of-account.ts'
import type { OwnCharge } from '../../service/own-charges.ts'
import { assertAffordable, planCall, type KnownOfAccount, type PlannedCall } from '../../service/plan-call.ts'
import type { Config } from '../../config/config.ts'

/** The end of one purchase. `left`: it was not made, or nothing may be concluded from it; the reason stands in `problems`. */
export type Bought = { state: 'answered'; call: PlannedCall; fact: Fact } | { state: 'left' }

/** The reason for which nothing more is bought in this run. */
export interface PurseEnd {
  end: 'budget' | 'parked' | 'failed' | 'interrupted'
  reason: string
  /** The time from which more may be bought, where it is known. */
  resumesAt?: Date | undefined
}

export interface Purse {
  readonly pageSize: number
  readonly lastPage: number | undefined
  plan(operation: Operation, body: Readonly<Record<string, unknown>>, page?: number): PlannedCall
  /** `optional`: the keys that the service may ignore, because the answer is read in such a way that it shows that. */
  buy(
    operation: Operation,
    body: Readonly<Record<string, unknown>>,
    page?: number,
    optional?: readonly string[],
  ): Promise<Bought>
  /** Says that a question cannot be answered whole. The others go on. */
  report(problem: string): void
  /** Buys nothing more in this run, for a fault of the answers. */
  fail(reason: string): void
  /** Undefined while it buys. */
  ended(): PurseEnd | undefined
  /** Questions that were refused or cannot be used, in words. The others go on. */
  readonly problems: readonly string[]
  readonly charges: readonly OwnCharge[]
  /** The answers that this run has paid for. */
  bought(): number
  committedAtomic(): Atomic
  close(): Promise<void>
}

export interface PurseOptions {
  /** The name under which its charges count in a month. */
  budget: string
  /** The place of the budget of the month in the settings. */
  place: string
  budgetAtomic: Atomic
  signal: AbortSignal
}

/** So many questions that fail one after the other are no fault of what they ask for. */
const mostFailures = 3

/**
 * Opens what buys for a pipeline: within the budget of this run and that of the month, which is held in the transaction of each charge.
 * An answer that the ledger has is free. Crash windows are those of a lookup.
 */
export async function openPurse(
  context: Context,
  { budget, place, budgetAtomic, signal }: PurseOptions,
): Promise<Purse> {
  const known = await knownOfAccount(context, { asks: true })
  const config = await withAcceptedNames(context.config, context)
  const problems: string[] = []
  const charges: OwnCharge[] = []
  let session: CallSession | undefined
  let committed = 0n
  let answers = 0
  let failures = 0
  let end: PurseEnd | undefined
  const plan: Purse['plan'] = (operation, body, page) => callFor(config, known, operation, body, page)

  async function isAffordable(call: PlannedCall): Promise<boolean> {
    if (await isInLedger(context, call)) return true
    assertAffordable(call)
    await assertBuyable(context, call)
    const { capAtomic: cap } = call
    const month = await listMonth(context, budget)
    const leftOfMonth = month.capAtomic === undefined ? undefined : month.capAtomic - month.spentAtomic
    if (committed + cap > budgetAtomic)
      end = {
        end: 'budget',
        reason: `the next question may cost ${formatUsd(cap)} USD, and ${formatUsd(budgetAtomic - committed)} of the budget are left`,
      }
    else if (leftOfMonth !== undefined && cap > leftOfMonth)
      end = {
        end: 'budget',
        reason: `the next question may cost ${formatUsd(cap)} USD, and of ${place}.budgetMonthUsd ${formatUsd(leftOfMonth > 0n ? leftOfMonth : 0n)} are left until the end of the month`,
        resumesAt: nextMonth(context.now()),
      }
    if (!end) committed += cap
    return !end
  }

  function take(call: PlannedCall, last: CallEnd, optional: readonly string[]): Bought {
    charges.push(...last.charges)
    if (last.state === 'interrupted') end = { end: 'interrupted', reason: 'it was stopped' }
    if (last.state === 'parked')
      end = { end: 'parked', reason: last.reason, resumesAt: last.until ?? undefined }
    if (last.state === 'failed') {
      problems.push(`${call.operation}: ${last.reason}`)
      failures += 1
      if (failures >= mostFailures)
        end = { end: 'failed', reason: `${mostFailures} questions failed, the last one: ${last.reason}` }
    }
    if (last.state !== 'answered') return { state: 'left' }
    failures = 0
    if (!last.isKnown) answers += 1
    const page = pageOf(call, last.fact)
    const required = Object.entries(call.request).filter(([name]) => !optional.includes(name))
    const faults = page ? faultsOf({ ...call, request: Object.fromEntries(required) }, page) : []
    if (last.fact.outcome === 'unreadable') faults.push('the answer cannot be read; it is kept')
    if (faults.length === 0) return { state: 'answered', call, fact: last.fact }
    // The next one would be ignored or unreadable in the same way.
    end = { end: 'failed', reason: `${call.operation}: ${faults[0]}` }
    return { state: 'left' }
  }

  return {
    pageSize: known.pageSize ?? usualPageSize,
    lastPage: known.lastPage,
    plan,
    problems,
    charges,
    report: (problem) => void problems.push(problem),
    fail: (reason) => void (end ??= { end: 'failed', reason }),
    ended: () => end ?? (signal.aborted ? { end: 'interrupted', reason: 'it was stopped' } : undefined),
    bought: () => answers,
    committedAtomic: () => committed,
    async buy(operation, body, page, optional = []) {
      if (end || signal.aborted) return { state: 'left' }
      const call = plan(operation, body, page)
      if (!(await isAffordable(call))) return { state: 'left' }
      session ??= await openCalls(context, { first: call, signal, list: budget })
      return take(call, await session.buy(call), optional)
    },
    close: async () => session?.close(),
  }
}

/** Returns the beginning of the next calendar month (UTC). */
function nextMonth(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
}

async function isInLedger({ lookups }: Pick<Context, 'lookups'>, { key }: PlannedCall): Promise<boolean> {
  const known = (await lookups.freshFacts([key])).get(key)
  return known !== undefined && known.outcome !== 'failed'
}

function callFor(
  config: Config,
  known: KnownOfAccount,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
  page: number | undefined,
): PlannedCall {
  return planCall(config, { operation, body: page === undefined ? body : { ...body, page } }, known)
}
