import type { Faults } from '../faults/faults.ts'
import type { Answered, PaidAsk, PaidEndpoint } from '../http/paid-endpoint.ts'
import {
  isAbsent,
  isRefused,
  malformed,
  parseObject,
  readBody,
  type BadRequest,
} from '../http/request-body.ts'
import type { Prices } from '../prices.ts'
import type { StatsEndpoint } from '../stats.ts'
import type { World } from '../world/world.ts'
import { readFilters, type FilterKinds, type Filters } from './read-filters.ts'

/** The result of a search, in its order, with that which its answer says beside the rows. */
interface Found<R> {
  rows: readonly R[]
  metadata?: Record<string, unknown>
  /** For a search that costs less than usual. */
  credits?: number
}

export interface SearchOptions<K extends FilterKinds, R> {
  name: StatsEndpoint
  price: keyof Prices
  /** The key of the rows in the answer's `data`. */
  rows: string
  filters: K
  /** Other spellings of a filter, by name. */
  aliases?: Record<string, keyof K & string>
  find(filters: Filters<K>, world: World, ask: PaidAsk): Found<R> | BadRequest
  show(row: R, filters: Filters<K>, world: World): object
}

/** Builds a search: filters at the top of the body, `page` and `per_page`, and a page of rows with its pagination. */
export function searchEndpoint<K extends FilterKinds, R>(
  { name, price, rows, filters: kinds, aliases = {}, find, show }: SearchOptions<K, R>,
  world: World,
): PaidEndpoint {
  const known = [...Object.keys(kinds), ...Object.keys(aliases), 'page', 'per_page']
  return {
    name,
    keys(text) {
      const body = parseObject(text)
      return body === null ? [] : [`${name} ${JSON.stringify(body)}`]
    },
    ceiling: (_, prices) => prices[price],
    answer(ask): Answered {
      const read = readBody(ask, known)
      if (isRefused(read)) return { refused: read, status: 400 }
      const filters = readFilters(withoutAliases(read.body, aliases), kinds)
      if (isRefused(filters)) return { refused: filters as BadRequest, status: 400 }
      const pages = readPages(read.body, ask.faults.current)
      if ('refused' in pages) return pages
      const found = find(filters as Filters<K>, world, ask)
      if ('code' in found) return { refused: found, status: 400 }
      const from = (pages.page - 1) * pages.perPage
      return {
        data: {
          pagination: {
            page: pages.page,
            per_page: pages.perPage,
            total_entries: found.rows.length,
            total_pages: Math.ceil(found.rows.length / pages.perPage),
          },
          [rows]: found.rows
            .slice(from, from + pages.perPage)
            .map((row) => show(row, filters as Filters<K>, world)),
        },
        credits: found.credits ?? ask.prices[price],
        ignoredFields: read.ignoredFields,
        creditsAt: 'metadata',
        ...(found.metadata && { metadata: found.metadata }),
      }
    },
  }
}

function withoutAliases(body: Record<string, unknown>, aliases: Record<string, string>) {
  const renamed = { ...body }
  for (const [alias, name] of Object.entries(aliases)) {
    if (isAbsent(renamed[name])) renamed[name] = renamed[alias]
  }
  return renamed
}

interface Pages {
  page: number
  perPage: number
}
type Refused = Extract<Answered, { refused: unknown }>

/** An overflow is a 416, never a shorter page. */
function readPages(body: Record<string, unknown>, { plan, searchLimits }: Readonly<Faults>): Pages | Refused {
  const lastPage = searchLimits.page ?? plan.max_search_page
  const mostPerPage = searchLimits.perPage ?? plan.max_search_per_page
  const page = isAbsent(body['page']) ? 1 : body['page']
  const perPage = isAbsent(body['per_page']) ? mostPerPage : body['per_page']
  for (const [name, value] of Object.entries({ page, per_page: perPage })) {
    if (!Number.isInteger(value) || (value as number) < 1) {
      return { refused: malformed(`${name} must be a positive integer`, name), status: 400 }
    }
  }
  if ((perPage as number) > mostPerPage) return over(searchLimits.perPageCode, 'per_page', mostPerPage)
  if ((page as number) > lastPage) return over(searchLimits.pageCode, 'page', lastPage)
  return { page: page as number, perPage: perPage as number }
}

function over(code: number, parameter: string, limit: number): Refused {
  const message = `${parameter} is above the plan's limit of ${limit}`
  return { refused: { code, message, details: { parameter, limit } }, status: 416 }
}
