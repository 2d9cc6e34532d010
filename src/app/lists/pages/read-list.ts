import { identifiersOfSubject, listRowOf, rowIdName } from '../../../domain/lists/list-row.ts'
import {
  movedOf,
  nextPage,
  outsideOf,
  reachableOf,
  sumOf,
  type ListPart,
} from '../../../domain/lists/list-parts.ts'
import { scoreOf } from '../../../domain/lists/fuse-ranks.ts'
import type { Page } from '../../../service/calls/read-answer.ts'
import { eraseListRows } from '../../../store/lists/erase-rows.ts'
import { createListFetches, type ListFetch } from '../../../store/lists/list-fetches.ts'
import { takePage, type LedgerPage } from '../../../store/lists/take-page.ts'
import { objectOfList } from '../../config/lists.ts'
import { rowByRow } from '../../../service/calls/read-answer.ts'
import { faultsOf, pageOf } from '../../service/call-result.ts'
import { isUnderOldNames } from '../../service/old-names.ts'
import type { PlannedCall } from '../../service/plan-call.ts'
import { excludedRows } from '../judging/excluded-rows.ts'
import { hasFilters } from '../exclusions/read-exclusions.ts'
import { boundsOf, callOf, type ListCalls } from './list-calls.ts'
import { isCurrent, latestFetch, openFetch, type FetchContext } from './open-fetch.ts'

/** A list as far as the ledger has its pages. Its rows are read in batches (judged-rows.ts). */
export interface ReadList {
  /** Undefined: the ledger has no page of it. */
  fetch: ListFetch | undefined
  /** False: none of its pages is fresh any more, so that the next fetch begins anew. */
  isCurrent: boolean
  parts: readonly ListPart[]
  /** The pages that were read, of all parts. */
  pages: number
  /** The number of rows that the service states, of all parts. Null: not known of one of them. */
  total: number | null
  /** The rows that can be had. Null: not known of one part. */
  reachable: number | null
  /** The rows that are wanted and that the service does not answer, as far as the totals are known. */
  outside: number
  /** The rows that are kept, each once. */
  rows: number
  /** The rows that the total promised and that did not come, because they moved while pages were bought. */
  moved: number
  /** The rows that several parts brought. */
  overlap: number
  /** The rows that the service sent and that are not kept, by reason. They count for pages, total and limit. */
  dropped: Readonly<Record<string, number>>
  /** True when no further page has rows, or the list's own limit is reached. */
  isComplete: boolean
  /** The reasons why nothing may be made of the rows. */
  faults: string[]
}

/**
 * Reads what the ledger has of a list: takes the fresh pages in that are behind those of its fetch. Pays nothing. A page that nothing
 * may be made of is not taken in; it counts among the pages, with its faults.
 */
export async function readList(context: FetchContext, calls: ListCalls): Promise<ReadList> {
  const latest = await readableFetch(context, calls)
  const isGoingOn = latest !== undefined && isCurrent(latest, context.now())
  if (isUnread(calls) || calls.parts.length === 0) return describe(context, calls, latest, [])
  if (!isGoingOn && !(await freshPage(context, callOf(calls)))) return describe(context, calls, latest, [])
  return readFetch(context, calls, isGoingOn ? latest : await openFetch(context, calls))
}

/** Returns the newest fetch, or the one before where that has only begun to buy its pages again: the list is not empty meanwhile. */
async function readableFetch(context: FetchContext, calls: ListCalls): Promise<ListFetch | undefined> {
  const latest = await latestFetch(context, calls)
  if (!latest?.isAgain || latest.endedAt !== null || latest.arrived > 0) return latest
  const [before] = await createListFetches(context.database.db, context).finished(calls.keptAs, 1)
  return before?.rules === latest.rules ? before : latest
}

/**
 * Takes the fresh pages of the ledger into an open fetch. Into one that buys its pages again only those that it has bought, unless it
 * `takesOld` ones.
 */
export async function readFetch(
  context: FetchContext,
  calls: ListCalls,
  begun: ListFetch,
  { takesOld = false }: { takesOld?: boolean } = {},
): Promise<ReadList> {
  const { database, now } = context
  const bounds = boundsOf(calls)
  let fetch = begun
  while (fetch.endedAt === null && !isUnread(calls)) {
    const next = nextPage(fetch.parts, bounds)
    if (!next) break
    // From the moment on at which its earlier answer was set aside.
    if (fetch.isAgain && !takesOld && (fetch.parts[next.part]?.renewed ?? 0) < next.page) break
    const call = callOf(calls, next.part, next.page)
    const fresh = await freshPage(context, call)
    if (!fresh) break
    const faults = faultsOf(call, rowByRow(call.contract, fresh.page))
    // A name that a person has accepted since the answer: the page is bought again under it.
    if (faults.length > 0 && (await isUnderOldNames(database.db, call, fresh.fact))) break
    if (faults.length > 0)
      return describe(context, calls, fetch, faults, { at: next.part, total: fresh.page.total })
    const rows = await rowsOf(context, calls, call, next.page, fresh.page)
    const { freshUntil } = fresh
    fetch = await takePage(
      database.db,
      fetch.id,
      {
        ...next,
        lookupKey: call.key,
        freshUntil,
        total: fresh.page.total,
        arrived: fresh.page.arrived,
        dropped: fresh.page.dropped,
        rows,
      },
      { bounds, now, ranking: calls.similar?.ranking },
    )
    if (await erasedSince(context, calls, rows)) fetch = (await latestFetch(context, calls)) ?? fetch
  }
  return describe(context, calls, fetch, [])
}

/** Rows are not taken in before the records that they are compared with were read: one of a customer would stay in the list. */
function isUnread({ settings, exclusions }: ListCalls): boolean {
  return hasFilters(settings) && exclusions === undefined
}

/** Returns the page that the ledger has for a call, as long as it is fresh. */
export async function freshPage({ lookups, now }: Pick<FetchContext, 'lookups' | 'now'>, call: PlannedCall) {
  const fact = (await lookups.facts([call.key])).get(call.key)
  if (!fact || fact.outcome === 'failed' || fact.freshUntil <= now()) return undefined
  const page = pageOf(call, fact)
  return page && { page, fact, freshUntil: fact.freshUntil }
}

/**
 * Crash window: a subject was suppressed and forgotten between the reading of a page and the storing of its rows. Whoever forgets a
 * subject suppresses it first, so that asking once more finds it. Killed before that, its row is judged as suppressed.
 */
async function erasedSince(
  { suppressions, database }: FetchContext,
  { settings }: ListCalls,
  rows: LedgerPage['rows'],
): Promise<boolean> {
  const stored = rows.flatMap(({ row, dropAs }) => (dropAs === undefined ? [row] : []))
  const subjects = stored.map(({ identity }) => identifiersOfSubject(objectOfList(settings), identity))
  const since = await suppressions.match(subjects, { isFresh: true })
  if (since.size === 0) return false
  const sure = stored.flatMap(({ identities }, at) =>
    since.has(at) ? identities.filter(({ kind }) => ownKinds.has(kind)) : [],
  )
  return (await eraseListRows(database.db, sure)) > 0
}

/** The kinds of identities that are a row's alone. */
const ownKinds: ReadonlySet<string> = new Set(['profile', 'service_id', 'email'])

/** Returns the rows of a page, with the reason of those that are not kept: what may not be bought is not stored either. */
async function rowsOf(
  { config, suppressions }: FetchContext,
  { settings, exclusions, similar }: ListCalls,
  call: PlannedCall,
  number: number,
  page: Page,
): Promise<LedgerPage['rows']> {
  const object = objectOfList(settings)
  const idName = rowIdName(call.operation, call.contract.answer.rows?.id.value)
  const rows = page.rows.map((row) =>
    listRowOf(object, row, { page: number, idName, hosts: config.networkHosts }),
  )
  const suppressed = await suppressions.match(rows.map((row) => identifiersOfSubject(object, row.identity)))
  const excluded = excludedRows(settings, rows, config.networkHosts)
  const filtered = await exclusions?.among(rows)
  return rows.map((row, at) => {
    const isLeftOut = excluded.has(at) || filtered?.has(at) || similar?.isReference(row)
    const dropAs = suppressed.has(at) ? 'suppressed' : isLeftOut ? 'excluded' : undefined
    return { row, place: page.places[at] ?? at, dropAs, score: scoreOf(page.rows[at] ?? {}) }
  })
}

function describe(
  { now }: Pick<FetchContext, 'now'>,
  calls: ListCalls,
  fetch: ListFetch | undefined,
  faults: string[],
  faulty?: { at: number; total: number | null },
): ReadList {
  const bounds = boundsOf(calls)
  const parts = fetch?.parts ?? []
  const told = parts.map((part, at) =>
    at === faulty?.at ? { ...part, pages: part.pages + 1, total: part.total ?? faulty.total } : part,
  )
  return {
    fetch,
    isCurrent: fetch !== undefined && isCurrent(fetch, now()),
    parts: told,
    pages: sumOf(told, ({ pages }) => pages),
    total: wholeOf(told.map(({ total }) => total)),
    reachable: atMost(bounds.limit, wholeOf(told.map((part) => reachableOf(part, bounds)))),
    // Lookalikes are asked for as far as they are the most similar, and not all of them.
    outside: calls.similar ? 0 : outsideOf(told, bounds),
    rows: fetch?.stored ?? 0,
    dropped: fetch?.dropped ?? {},
    moved: sumOf(told, (part) => movedOf(part, bounds)),
    overlap: sumOf(told, ({ overlap }) => overlap),
    isComplete: fetch?.ending === 'complete' || fetch?.ending === 'cut',
    faults,
  }
}

function wholeOf(counts: readonly (number | null)[]): number | null {
  if (counts.length === 0) return null
  return counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0)
}

function atMost(limit: number | undefined, count: number | null): number | null {
  return count === null || limit === undefined ? count : Math.min(count, limit)
}
