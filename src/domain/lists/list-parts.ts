/** A part of a list: one search of the service, with pages and a total of its own. */
export interface ListPart {
  name: string
  /** The pages that were read, from the first on, without a gap. */
  pages: number
  /** The number of rows that the service states, by the last page. Null: no page is there, or it states none. */
  total: number | null
  /** The rows of a page, where the service gives fewer than are asked for. */
  pageRows: number | null
  /** The rows that came, also those that came before. */
  arrived: number
  /** The rows that this part had brought before, and those that another part had. */
  repeated: number
  overlap: number
  isEnded: boolean
  /** The page that the service refused, with the code of the refusal. */
  cut?: { page: number; code: string | null }
  /** A digest of the total and the ids on the first page, by which a later look at it tells whether something has changed. */
  first?: string
  /** The pages whose earlier answers were set aside, because they are bought again on purpose. */
  renewed?: number
}

/** A place at which a row came: the rank counts from 1 within its part. */
export interface FoundAt {
  part: number
  page: number
  rank: number
  /** The similarity that the service states, from 0 to 1. */
  score?: number
}

/** The bounds of a list's pages. */
export interface PageBounds {
  pageSize: number
  /** The last page that the service answers; undefined where nothing has told it. */
  lastPage: number | undefined
  /** The most rows of the whole list. */
  limit: number | undefined
  /** True where a row may come several times without having moved: a company with several market entries. */
  repeatsRows?: boolean | undefined
}

export function newPart(name: string): ListPart {
  return {
    name,
    pages: 0,
    total: null,
    pageRows: null,
    arrived: 0,
    repeated: 0,
    overlap: 0,
    isEnded: false,
  }
}

/** Returns the rows that count towards the limit. A row that moved while pages were bought counts, because its page was paid for. */
export function countedRows(parts: readonly ListPart[]): number {
  return sumOf(parts, ({ arrived, overlap }) => arrived - overlap)
}

/**
 * Returns the next page to be read, by part. The first page of each part goes before the others, because it tells how many rows there are.
 * Undefined: the list has ended.
 */
export function nextPage(
  parts: readonly ListPart[],
  { limit, lastPage }: Pick<PageBounds, 'limit' | 'lastPage'>,
): { part: number; page: number } | undefined {
  if (limit !== undefined && countedRows(parts) >= limit) return undefined
  const isOpen = ({ pages, isEnded }: ListPart): boolean =>
    !isEnded && (lastPage === undefined || pages < lastPage)
  const open = parts.flatMap((each, part) => (isOpen(each) ? [{ part, page: each.pages + 1 }] : []))
  return open.find(({ page }) => page === 1) ?? open[0]
}

/** The counts of a page. */
export interface TakenPage {
  total: number | null
  rows: number
  repeated: number
  overlap: number
}

/** Returns the state of a part behind its next page. */
export function withPage(
  part: ListPart,
  page: TakenPage,
  { pageSize, lastPage }: Omit<PageBounds, 'limit'>,
): ListPart {
  const pages = part.pages + 1
  const total = page.total ?? part.total
  const arrived = part.arrived + page.rows
  const pageRows =
    pages === 1 && page.rows > 0 && page.rows < pageSize && total !== null && total > page.rows
      ? page.rows
      : part.pageRows
  const isLast =
    page.rows === 0 ||
    pages === lastPage ||
    (total === null ? page.rows < pageSize : pages >= Math.ceil(total / (pageRows ?? pageSize)))
  return {
    ...part,
    pages,
    total,
    pageRows,
    arrived,
    repeated: part.repeated + page.repeated,
    overlap: part.overlap + page.overlap,
    isEnded: isLast,
  }
}

/** Returns the number of rows of a part that can be had. Null: its total is not known. */
export function reachableOf(
  { total, pageRows, cut }: ListPart,
  { pageSize, lastPage }: Omit<PageBounds, 'limit'>,
): number | null {
  const last = cut ? cut.page - 1 : lastPage
  if (total === null) return cut ? 0 : null
  return last === undefined ? total : Math.min(total, last * (pageRows ?? pageSize))
}

/** Returns the number of rows that are wanted and cannot be had, as far as the totals are known. */
export function outsideOf(parts: readonly ListPart[], { limit, ...bounds }: PageBounds): number {
  const total = sumOf(parts, (part) => part.total ?? 0)
  const reachable = sumOf(parts, (part) => reachableOf(part, bounds) ?? 0)
  return Math.max(0, Math.min(total, limit ?? total) - reachable)
}

/** Returns the pages of a part that are still to be bought. Null: nobody knows before the first is there. */
export function pagesLeft(part: ListPart, bounds: Omit<PageBounds, 'limit'>): number | null {
  if (part.isEnded) return 0
  const reachable = reachableOf(part, bounds)
  if (reachable === null) return null
  return Math.max(0, Math.ceil(reachable / (part.pageRows ?? bounds.pageSize)) - part.pages)
}

/**
 * Returns the number of rows that a part should have brought and did not: they moved to another page while pages were bought. Zero while
 * it has not ended, and where the limit of the list ended it.
 */
export function movedOf(part: ListPart, bounds: Omit<PageBounds, 'limit'>): number {
  const reachable = reachableOf(part, bounds)
  if (!part.isEnded || reachable === null || bounds.repeatsRows) return 0
  return Math.max(0, reachable - (part.arrived - part.repeated))
}

export function sumOf<T>(parts: readonly T[], count: (part: T) => number): number {
  return parts.reduce((sum, part) => sum + count(part), 0)
}
