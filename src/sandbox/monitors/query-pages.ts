import { malformed, OVER_LIMIT, OVER_PAGE, type BadRequest } from '../http/request-body.ts'
import type { Plan } from '../plan.ts'

/** A page that a query string asks for, or its refusal. */
type QueryPage =
  { page: number; perPage: number; ignoredFields: string[] } | { refused: BadRequest; status: 400 | 416 }

/** Reads `page` and `per_page`. Other parameters than the known ones are named, not refused. */
export function readPage(query: URLSearchParams, plan: Plan, known: readonly string[] = []): QueryPage {
  const { max_search_per_page: mostPerPage, max_search_page: lastPage } = plan
  const [page, perPage] = [query.get('page') ?? '1', query.get('per_page') ?? String(mostPerPage)]
  for (const [name, value] of Object.entries({ page, per_page: perPage })) {
    if (!/^[1-9]\d{0,8}$/.test(value)) {
      return { refused: malformed(`${name} must be a positive integer`, name), status: 400 }
    }
  }
  if (Number(perPage) > mostPerPage) return over(OVER_LIMIT, 'per_page', mostPerPage)
  if (Number(page) > lastPage) return over(OVER_PAGE, 'page', lastPage)
  return {
    page: Number(page),
    perPage: Number(perPage),
    ignoredFields: strayParameters(query, ['page', 'per_page', ...known]),
  }
}

export function strayParameters(query: URLSearchParams, known: readonly string[]): string[] {
  return [...new Set(query.keys())].filter((name) => !known.includes(name))
}

/** Returns one page of rows under their name, with the block that the searches have too. */
export function pageOf<T>(
  name: string,
  rows: readonly T[],
  { page, perPage }: { page: number; perPage: number },
) {
  return {
    [name]: rows.slice((page - 1) * perPage, page * perPage),
    pagination: {
      page,
      per_page: perPage,
      total_entries: rows.length,
      total_pages: Math.ceil(rows.length / perPage),
    },
  }
}

function over(code: number, parameter: string, limit: number) {
  const message = `${parameter} is above the plan's limit of ${limit}`
  return { refused: { code, message, details: { parameter, limit } }, status: 416 as const }
}
