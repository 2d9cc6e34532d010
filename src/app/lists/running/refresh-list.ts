import { formatUsd } from '../../../domain/money.ts'
import { counted } from '../../../domain/values/counted.ts'
import { utcMinute } from '../../../domain/values/utc-minute.ts'
import { confirmFetch } from '../../../store/lists/first-page.ts'
import type { ListFetch } from '../../../store/lists/list-fetches.ts'
import type { Context } from '../../context/context.ts'
import { listMonth } from '../../money/list-months.ts'
import { assertBuyable } from '../../service/assert-buyable.ts'
import { openCalls, type CallEnd, type CallSession } from '../../service/call-session.ts'
import type { OwnCharge } from '../../service/own-charges.ts'
import { assertAffordable } from '../../service/plan-call.ts'
import { callOf, type ListCalls } from '../pages/list-calls.ts'
import { isCurrent, latestFetch } from '../pages/open-fetch.ts'
import { readFirstPage } from './first-page.ts'
import {
  runList,
  runRefusals,
  spentOf,
  unfinishedPlan,
  type ListRun,
  type RunListOptions,
} from './run-list.ts'

/** The end of a refresh. */
export interface ListRefresh {
  /** Undefined: nothing has changed, or page 1 could not be had. */
  run: ListRun | undefined
  end: ListRun['end'] | 'unchanged'
  reason?: string | undefined
  /** The pages that were bought, and everything that was charged. */
  bought: number
  charges: OwnCharge[]
}

/**
 * Runs a list again: buys page 1 of each part, and goes on only when its total or its rows have changed since the last fetch that had all
 * its pages. Of people at companies the companies are looked at. A fetch that is under way, pages that are fresh and a plan that was begun go on as in every run.
 *
 * Crash windows: killed after page 1 is bought, the page is in the ledger; the next refresh compares it without paying. The fetch that was
 * found unchanged is noted as such in one statement.
 */
export async function refreshList(
  context: Context,
  calls: ListCalls,
  options: RunListOptions,
): Promise<ListRefresh> {
  const latest = await latestFetch(context, calls)
  const isWhole = latest?.ending === 'complete' || latest?.ending === 'cut'
  if (!latest || !isWhole || isCurrent(latest, context.now()) || (await unfinishedPlan(context, calls)))
    return ended(await runList(context, calls, options))
  const [refusal] = await runRefusals(context, calls, options.connector)
  if (refusal) throw refusal
  const searched = calls.companies?.calls ?? calls
  const { end, freshUntil, ...looked } = await look(
    context,
    searched,
    searched === calls ? latest : await latestFetch(context, searched),
    options,
  )
  if (end === 'unchanged' && freshUntil) {
    await confirmFetch(context.database.db, latest.id, freshUntil)
    const reason = `nothing has changed since ${utcMinute(latest.startedAt)}`
    return { run: undefined, end, ...looked, reason }
  }
  if (end !== 'changed') return { run: undefined, end, ...looked }
  const { bought, charges } = looked
  const budgetAtomic = options.budgetAtomic - spentOf(charges)
  const run = await runList(context, calls, { ...options, budgetAtomic })
  const all = ended(run)
  return { ...all, bought: bought + all.bought, charges: [...charges, ...all.charges] }
}

type Looked = Omit<ListRefresh, 'run' | 'end'> & {
  end: ListRefresh['end'] | 'changed'
  /** The end of the freshness of the first pages. */
  freshUntil?: Date | undefined
}

/** Buys the first pages and compares them with those of a fetch. */
async function look(
  context: Context,
  calls: ListCalls,
  latest: ListFetch | undefined,
  { budgetAtomic, signal }: RunListOptions,
): Promise<Looked> {
  const charges: OwnCharge[] = []
  let bought = 0
  let session: CallSession | undefined
  let last: CallEnd | undefined
  let freshUntil: Date | undefined
  let isChanged = latest?.parts.length !== calls.parts.length
  const end = (state: Looked['end'], reason?: string): Looked => ({ end: state, reason, bought, charges })
  try {
    for (let part = 0; part < calls.parts.length && !isChanged; part += 1) {
      if (signal.aborted) return end('interrupted')
      let page = await readFirstPage(context, calls, part)
      if (!page) {
        const call = callOf(calls, part)
        assertAffordable(call)
        await assertBuyable(context, call, last)
        const month = await listMonth(context, calls.name)
        const left = [
          budgetAtomic - spentOf(charges),
          ...(month.capAtomic === undefined ? [] : [month.capAtomic - month.spentAtomic]),
        ].reduce((least, each) => (each < least ? each : least))
        if (call.capAtomic > left)
          return end(
            'budget',
            `page 1 may cost ${formatUsd(call.capAtomic)} USD, and ${formatUsd(left > 0n ? left : 0n)} are left of the budget of the schedule, the list or its month`,
          )
        session ??= await openCalls(context, { first: call, signal, list: calls.name })
        last = await session.buy(call)
        charges.push(...last.charges)
        if (last.state === 'interrupted') return end('interrupted')
        if (last.state !== 'answered') return end(last.state, last.reason)
        bought += 1
        page = await readFirstPage(context, calls, part)
        if (!page) return end('unusable', 'page 1 was bought, and cannot be read or is not fresh (freshness)')
      }
      const [fault] = page.faults
      if (fault !== undefined) return end('unusable', fault)
      isChanged = page.digest !== latest?.parts[part]?.first
      if (!freshUntil || page.freshUntil < freshUntil) freshUntil = page.freshUntil
    }
  } finally {
    await session?.close()
  }
  if (isChanged || !latest || !freshUntil) return end('changed')
  await confirmFetch(context.database.db, latest.id, freshUntil)
  return { ...end('unchanged'), freshUntil }
}

function ended(run: ListRun): ListRefresh {
  const { end, reason, charges, fetched } = run
  return { run, end, reason, bought: fetched?.bought ?? 0, charges }
}

/** Returns what a refresh did, in words. */
export function refreshText({ run, end, reason, bought }: ListRefresh): string {
  const pages = `${counted(bought, 'page')} bought`
  const applied = run?.applied
  const made = applied
    ? `, ${counted(applied.created, 'record')} made, ${applied.exists} existed${applied.waiting > 0 ? `, ${applied.waiting} waiting` : ''}`
    : run?.plan
      ? ', nothing was to be made'
      : ''
  const why = reason ?? (end === 'finished' ? undefined : end)
  return `${pages}${made}${why === undefined ? '' : `: ${why}`}`
}
