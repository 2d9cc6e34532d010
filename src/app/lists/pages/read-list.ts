import { dropReasons, type DropReason } from '../../../domain/lists/dropped-rows.ts'
import { listRowOf, type ListRow } from '../../../domain/lists/list-row.ts'
import type { Page } from '../../../service/calls/read-answer.ts'
import { objectOfList } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { faultsOf, pageOf } from '../../service/call-result.ts'
import type { ListCalls } from './list-calls.ts'

/** A list as far as the ledger has its pages. */
export interface ReadList {
  /** The pages from the first on, without a gap. */
  pages: number
  /** The number of rows that the service states. Null: no page is there, or it states none. */
  total: number | null
  rows: ListRow[]
  /** The rows that the service sent and the ledger does not keep, by reason. They count for pages, total and limit. */
  dropped: Partial<Record<DropReason, number>>
  /** True when no further page has rows, or the list's own limit is reached. */
  isComplete: boolean
  /** The reasons why nothing may be made of the rows. */
  faults: string[]
}

/** Reads a list's fresh pages from the ledger, behind those that were read `before`. Pays nothing. */
export async function readList(
  { lookups, config }: Pick<Context, 'lookups' | 'config'>,
  calls: ListCalls,
  before: ReadList = { pages: 0, total: null, rows: [], dropped: {}, isComplete: false, faults: [] },
): Promise<ReadList> {
  const { settings, lastPage, pageSize } = calls
  const object = objectOfList(settings.search)
  const list: ReadList = {
    ...before,
    rows: [...before.rows],
    dropped: { ...before.dropped },
    faults: [...before.faults],
  }
  for (let number = before.pages + 1; !isEnd(calls, list); number += 1) {
    const call = calls.page(number)
    const fact = (await lookups.freshFacts([call.key])).get(call.key)
    const page = fact && pageOf(call, fact)
    if (!page) break
    list.pages = number
    list.total ??= page.total
    list.faults.push(...faultsOf(call, page))
    const idName = call.contract.answer.rows?.id.value ?? 'id'
    list.rows.push(
      ...page.rows.map((row) => listRowOf(object, row, { page: number, idName, hosts: config.networkHosts })),
    )
    for (const reason of dropReasons)
      if (page.dropped[reason]) list.dropped[reason] = (list.dropped[reason] ?? 0) + page.dropped[reason]
    list.isComplete = isLastPage(page, list, pageSize) || number === lastPage
    if (list.faults.length > 0) break
  }
  const { limit } = settings
  if (limit !== undefined && arrivedOf(list) >= limit)
    return { ...list, rows: list.rows.slice(0, limit), isComplete: true }
  return list
}

function isLastPage({ arrived }: Page, list: ReadList, pageSize: number): boolean {
  return arrived === 0 || (list.total === null ? arrived < pageSize : arrivedOf(list) >= list.total)
}

/** Returns the number of rows that the service has sent, with those that were dropped. */
function arrivedOf({ rows, dropped: { suppressed = 0, forgotten = 0 } }: ReadList): number {
  return rows.length + suppressed + forgotten
}

function isEnd({ settings: { limit } }: ListCalls, list: ReadList): boolean {
  return list.isComplete || (limit !== undefined && arrivedOf(list) >= limit)
}

/** Returns the number of rows that can be had: those of the pages that the plan gives, and of the list's own limit. */
export function reachableOf(
  { settings: { limit }, lastPage, pageSize }: Pick<ListCalls, 'settings' | 'lastPage' | 'pageSize'>,
  total: number,
): number {
  return Math.min(total, lastPage === undefined ? total : lastPage * pageSize, limit ?? total)
}
