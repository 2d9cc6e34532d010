import { ConfigError } from '../../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../../domain/money.ts'
import type { Context } from '../../context/context.ts'
import { listMonth } from '../../money/list-months.ts'
import type { OwnCharge } from '../../service/own-charges.ts'
import { openCalls, type CallEnd, type CallSession } from '../../service/call-session.ts'
import { assertBuyable } from '../../service/assert-buyable.ts'
import { assertAffordable } from '../../service/plan-call.ts'
import {
  newPart,
  nextPage,
  outsideOf,
  reachableOf,
  sumOf,
  type ListPart,
} from '../../../domain/lists/list-parts.ts'
import { limitsOf, type KnownLimit } from '../../../store/contract/known-limits.ts'
import { renewPage } from '../../../store/lists/renew-page.ts'
import { cutPart } from '../../../store/lists/take-page.ts'
import type { PlannedCall } from '../../service/plan-call.ts'
import { withExclusions, type FoundRecords } from '../exclusions/read-exclusions.ts'
import { boundsOf, callOf, type ListCalls } from './list-calls.ts'
import { latestFetch, openFetch } from './open-fetch.ts'
import { readFetch, readList, type ReadList } from './read-list.ts'

export interface FetchOptions {
  /** The most that this fetch may spend, by the caps of its pages. */
  budgetAtomic: Atomic
  /** The most pages to have afterwards. */
  pages?: number | undefined
  /** Go on though some rows lie behind the last page that the service answers. */
  reachableOnly: boolean
  /** Begin a new fetch, or go on with one that was begun so, and buy its pages though the ledger has them. */
  again?: boolean | undefined
  signal: AbortSignal
  onPage?: ((list: ReadList) => void) | undefined
  /** Called while the records that the list leaves out are read, and when each filter has been. */
  onExcluding?: ((found: FoundRecords) => void) | undefined
}

export interface Fetched {
  list: ReadList
  /** `cut`: the service refused a page, and nobody has said that the rest is enough. */
  end: 'complete' | 'cut' | 'budget' | 'pages' | 'unusable' | 'failed' | 'parked' | 'interrupted'
  reason?: string
  /** The pages that this fetch has bought, and everything that it was charged. */
  bought: number
  charges: OwnCharge[]
  /** The part of the budget that was used, by the caps of its pages. */
  committedAtomic: Atomic
}

/** So many questions that fail one after the other are no fault of what they ask for. */
const mostFailures = 3

/**
 * Buys the pages of a list that the ledger lacks, and of a list of people first those of its companies. Crash windows are those of each
 * fetch: the companies have ended before the first question is asked at one of them, so the questions are the same after a kill.
 */
export async function fetchList(context: Context, calls: ListCalls, options: FetchOptions): Promise<Fetched> {
  const { companies } = calls
  if (!companies) return fetchParts(context, calls, options)
  // The questions of an earlier --again go on: its companies were bought anew then.
  const open = options.again ? await latestFetch(context, calls) : undefined
  const again = options.again && !(open?.isAgain && open.endedAt === null)
  const first = await fetchParts(context, companies.calls, { ...options, again })
  await companies.reload()
  if (first.end !== 'complete' || options.pages !== undefined)
    return { ...first, list: await readList(context, calls) }
  const { bought, charges, committedAtomic } = first
  const budgetAtomic = options.budgetAtomic - committedAtomic
  const second = await fetchParts(context, calls, { ...options, budgetAtomic })
  return {
    ...second,
    bought: bought + second.bought,
    charges: [...charges, ...second.charges],
    committedAtomic: committedAtomic + second.committedAtomic,
  }
}

/**
 * Buys the pages of a list that the ledger lacks, in order, until the list is complete, the budget is used, or a page cannot be used. A
 * fetch that was stopped goes on where it was: a page in the ledger is not bought again.
 *
 * Crash windows are those of each page's lookup, and that of its rows (src/store/lists/take-page.ts). The budget is counted by what a page may cost, before it is asked for.
 */
async function fetchParts(context: Context, given: ListCalls, options: FetchOptions): Promise<Fetched> {
  const { budgetAtomic, signal, onPage, again = false } = options
  const { db } = context.database
  let calls = given
  const charges: OwnCharge[] = []
  let session: CallSession | undefined
  let committed = 0n
  let bought = 0
  let failures = 0
  let last: CallEnd | undefined
  let list: ReadList | undefined
  const done = (now: ReadList, end: Fetched['end'], reason?: string): Fetched => ({
    list: now,
    end,
    ...(reason === undefined ? {} : { reason }),
    bought,
    charges,
    committedAtomic: committed,
  })
  try {
    if (again) await assertReachableBefore(context, calls, options)
    // Begun before the first page is bought, so that a kill leaves a fetch that goes on.
    let fetch = await openFetch(context, calls, { again })
    if (fetch.endedAt === null) calls = await withExclusions(context, calls, options)
    for (;;) {
      const before: number = list?.pages ?? 0
      list = await readFetch(context, calls, fetch, { takesOld: !again })
      fetch = list.fetch ?? fetch
      onPage?.(list)
      if (fetch.ending === 'replaced')
        return done(list, 'interrupted', 'another process has begun a newer fetch of this list')
      // A page that is not fresh for a moment would be bought again, as often as the budget allows.
      if (last && list.pages === before)
        return done(list, 'unusable', `page ${before + 1} was bought and is not fresh (freshness)`)
      const ended = endOf(calls, list, options)
      if (ended) return done(list, ended.end, ended.reason)
      assertReachable(calls, list, options)
      const next = nextPage(list.parts, boundsOf(calls))
      if (!next) return done(list, 'complete')
      const call = callOf(calls, next.part, next.page)
      assertAffordable(call)
      await assertBuyable(context, call, last)
      if (committed + call.capAtomic > budgetAtomic)
        return done(
          list,
          'budget',
          `the next page may cost ${formatUsd(call.capAtomic)} USD, and ${formatUsd(budgetAtomic - committed)} of the budget are left`,
        )
      const { capAtomic, spentAtomic } = await listMonth(context, calls.name)
      if (capAtomic !== undefined && spentAtomic + call.capAtomic > capAtomic)
        return done(
          list,
          'budget',
          `the next page may cost ${formatUsd(call.capAtomic)} USD, and of lists.${calls.name}.budgetMonthUsd ${formatUsd(capAtomic > spentAtomic ? capAtomic - spentAtomic : 0n)} are left until the end of the month`,
        )
      if (again) fetch = await renewPage(db, fetch.id, { ...next, key: call.key }, context)
      committed += call.capAtomic
      session ??= await openCalls(context, { first: call, signal, list: calls.name })
      last = await session.buy(call)
      charges.push(...last.charges)
      if (last.state === 'interrupted') return done(list, 'interrupted')
      const limit = last.state === 'failed' ? await limitBefore(db, call, next.page) : undefined
      if (limit) {
        calls = { ...calls, lastPage: limit.value }
        const by = { bounds: boundsOf(calls), now: context.now, ranking: calls.similar?.ranking }
        fetch = await cutPart(db, fetch.id, { ...next, code: limit.code }, by)
        last = undefined
        continue
      }
      // One reference or company that the service refuses does not stop the others.
      if (last.state === 'failed' && isOneOfMany(calls) && (failures += 1) < mostFailures) {
        const by = { bounds: boundsOf(calls), now: context.now, ranking: calls.similar?.ranking }
        fetch = await cutPart(db, fetch.id, { ...next, code: null }, by)
        last = undefined
        continue
      }
      if (last.state !== 'answered') return done(list, last.state, last.reason)
      failures = 0
      bought += 1
      if (last.fact.outcome === 'unreadable')
        return done(list, 'unusable', 'the answer cannot be read; it is kept')
    }
  } finally {
    await session?.close()
    await calls.exclusions?.close()
  }
}

/** Returns the limit by which the service has refused a page just now. Undefined: it failed for another reason. */
async function limitBefore(
  db: Context['database']['db'],
  { operation }: PlannedCall,
  page: number,
): Promise<KnownLimit | undefined> {
  const limits = await limitsOf(db, operation)
  return limits.find(({ name, value }) => name === 'page' && value === page - 1)
}

/** True for a list whose parts are questions about one reference or company each. */
function isOneOfMany({ similar, companies }: ListCalls): boolean {
  return similar !== undefined || companies !== undefined
}

function endOf(
  calls: ListCalls,
  list: ReadList,
  { pages, signal, reachableOnly }: FetchOptions,
): Pick<Fetched, 'end' | 'reason'> | undefined {
  const [fault] = list.faults
  if (fault !== undefined) return { end: 'unusable', reason: fault }
  if (list.isComplete) {
    const cut = list.parts.find((part) => part.cut)
    if (!cut?.cut || reachableOnly) return { end: 'complete' }
    const { page, code } = cut.cut
    if (isOneOfMany(calls))
      return {
        end: 'cut',
        reason: `the service refused ${cut.name}: take the rows of the others with --reachable-only`,
      }
    const reason = `the service refused page ${page}${list.parts.length > 1 ? ` of ${cut.name}` : ''}${code === null ? '' : ` (${code})`}, and rows stay outside: divide the list by partitions, or take what can be reached with --reachable-only`
    return { end: 'cut', reason }
  }
  if (pages !== undefined && list.pages >= pages) return { end: 'pages' }
  return signal.aborted ? { end: 'interrupted' } : undefined
}

/** Refuses to begin anew where the totals of the last fetch say already that the list cannot be had: its first pages would be paid again. */
async function assertReachableBefore(
  context: Context,
  calls: ListCalls,
  options: FetchOptions,
): Promise<void> {
  const latest = await latestFetch(context, calls)
  if (!latest || latest.endedAt === null) return
  // The plan may have grown since a page was refused.
  const parts = latest.parts.map((part): ListPart => ({
    ...newPart(part.name),
    total: part.total,
    pageRows: part.pageRows,
    pages: part.pages,
    isEnded: true,
  }))
  assertReachable(calls, { parts }, options)
}

/**
 * A list whose end cannot be had is refused before the second page of a part, so that nobody takes a part for the whole. The first pages
 * are bought before, because they tell how many rows there are.
 */
function assertReachable(
  calls: ListCalls,
  { parts }: Pick<ReadList, 'parts'>,
  { reachableOnly, pages }: FetchOptions,
): void {
  const { settings, name, lastPage, pageSize, similar } = calls
  // The rows most like each reference are wanted, and not all of them.
  if (similar) return
  const bounds = boundsOf(calls)
  if (reachableOnly || pages === 1 || nextPage(parts, bounds)?.page === 1) return
  const outside = outsideOf(parts, bounds)
  if (outside === 0) return
  const total = sumOf(parts, (part) => part.total ?? 0)
  const wanted = Math.min(total, settings.limit ?? total)
  const ofParts = parts.flatMap((part) => {
    const rows = (part.total ?? 0) - (reachableOf(part, bounds) ?? 0)
    return rows > 0 && parts.length > 1 ? [`${rows} of ${part.name}`] : []
  })
  const answers =
    lastPage === undefined
      ? 'the service has refused a page'
      : `the service answers ${lastPage} pages of ${pageSize}`
  throw new ConfigError(
    'not_reachable',
    `lists.${name}: ${wanted} rows are wanted, and ${answers}: ${outside} rows stay outside${ofParts.length > 0 ? ` (${ofParts.join(', ')})` : ''}. Narrow the filters, divide them by partitions, set a limit, or take what can be reached with --reachable-only`,
  )
}
