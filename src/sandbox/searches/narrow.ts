import { foldDomain } from '../data/fold.ts'
import { companyOfDomain, domainOfId, type WorldCompany } from '../world/companies.ts'
import type { Shelf } from '../world/world.ts'

/** The filters that narrow a search to companies. */
export const companyFilters = { domains: 'texts', domain_search_ids: 'texts' } as const

interface CompanyFilters {
  domains?: readonly string[] | undefined
  domain_search_ids?: readonly string[] | undefined
}

/** Returns the companies that the filters name; undefined where they name none and all are meant. */
export function namedCompanies(filters: CompanyFilters): Set<WorldCompany> | undefined {
  const { domains, domain_search_ids: ids } = filters
  if (domains === undefined && ids === undefined) return undefined
  const byDomain = domains && new Set(domains.flatMap((domain) => known(foldDomain(domain))))
  const byId = ids && new Set(ids.flatMap((id) => known(domainOfId(id))))
  if (byDomain && byId) return new Set([...byDomain].filter((company) => byId.has(company)))
  return byDomain ?? byId
}

/** Returns the rows of the companies that the filters name, in the order of the shelf. */
export function rowsOf<T extends { company: WorldCompany }>(
  shelf: Shelf<T>,
  filters: CompanyFilters,
): readonly T[] {
  const companies = namedCompanies(filters)
  if (companies === undefined) return shelf.all
  if (companies.size === 1) return shelf.of([...companies][0]!)
  return shelf.all.filter(({ company }) => companies.has(company))
}

/** Returns the rows that pass a test, the oldest first where the request asks for that. */
export function sifted<T>(
  rows: readonly T[],
  test: (row: T) => boolean,
  isAscending: boolean | undefined,
): readonly T[] {
  const found = rows.filter(test)
  return isAscending === true ? found.reverse() : found
}

function known(domain: string | null): WorldCompany[] {
  const company = domain === null ? undefined : companyOfDomain(domain)
  return company === undefined ? [] : [company]
}
