import type { PageBounds } from '../../../domain/lists/list-parts.ts'
import type { DistinctReferences, referenceTest } from '../../../domain/lists/references.ts'
import type { CompanyOfRow, StoredRow } from '../../../domain/lists/list-row.ts'
import type { Ranking } from '../../../store/lists/rank-rows.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Exclusions } from '../exclusions/read-exclusions.ts'
import type { PlannedCall } from '../../service/plan-call.ts'

/** The calls of a list's search: one a page of each part. */
export interface ListCalls {
  name: string
  /** The name under which its fetches are kept: its own, and another for the companies of a list of people. */
  keptAs: string
  settings: ListSettings
  pageSize: number
  /** The last page that the service answers; undefined where neither the plan nor a refusal has told it. */
  lastPage: number | undefined
  /** A search each, whose rows together are the list. Of people at companies they are known once the companies are. */
  parts: readonly PartCalls[]
  /** The records that the list's filters leave out, once a command has read them. */
  exclusions?: Exclusions | undefined
  /** The references that the parts ask for, in their order. */
  similar?: SimilarCalls | undefined
  /** The companies at which people are searched for. */
  companies?: CompanyCalls | undefined
  /** The one company at which people are searched for: a match names it, and no search. */
  company?: CompanyOfRow | undefined
  /** Rows that no search has brought: a match names them. */
  given?: readonly StoredRow[] | undefined
  /** False: records that exist are updated, and none is made. */
  makes?: boolean | undefined
}

/** The references of a similar search, one a part. */
interface SimilarCalls extends DistinctReferences {
  isReference: ReturnType<typeof referenceTest>
  ranking: Ranking
}

/** The search for the companies at which the list's people work. */
interface CompanyCalls {
  calls: ListCalls
  /** Reads the companies that were fetched last. The parts of the list are one question a company. */
  reload(): Promise<void>
}

export interface PartCalls {
  name: string
  page(number: number): PlannedCall
}

/**
 * Returns the call of a page. Page 1 of the first part tells what is true of all: operation, price and cap. For people at companies that
 * are not known yet it is that of the companies.
 */
export function callOf(
  { parts, companies }: Pick<ListCalls, 'parts' | 'companies'>,
  part = 0,
  page = 1,
): PlannedCall {
  const found = parts[part]
  if (found) return found.page(page)
  if (companies && parts.length === 0) return callOf(companies.calls)
  throw new RangeError(`a list has no part ${part}`)
}

export function boundsOf({
  pageSize,
  lastPage,
  settings: { limit, search },
  similar,
}: ListCalls): PageBounds {
  // The best are known when every reference was asked for, and not when enough rows are there.
  return {
    pageSize,
    lastPage,
    limit: similar ? undefined : limit,
    repeatsRows: search.startsWith('expansion.'),
  }
}
