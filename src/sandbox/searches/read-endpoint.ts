import type { Answered, PaidAsk, PaidEndpoint } from '../http/paid-endpoint.ts'
import { companyIdentifiers, readReference } from '../http/company-reference.ts'
import { companyOf } from '../http/company-lookup.ts'
import { isRefused, parseObject, readBody, type BadRequest } from '../http/request-body.ts'
import type { Prices } from '../prices.ts'
import type { StatsEndpoint } from '../stats.ts'
import { companyOfDomain, type WorldCompany } from '../world/companies.ts'
import type { World } from '../world/world.ts'
import { readFilters, type FilterKinds, type Filters } from './read-filters.ts'

export interface ReadOptions<K extends FilterKinds> {
  name: StatsEndpoint
  price: keyof Prices
  parameters: K
  read(filters: Filters<K>, world: World, ask: PaidAsk): { data: unknown } | BadRequest
}

/** Builds an endpoint that answers with one document. */
export function readEndpoint<K extends FilterKinds>(
  { name, price, parameters, read: readDocument }: ReadOptions<K>,
  world: World,
): PaidEndpoint {
  return {
    name,
    keys(text) {
      const body = parseObject(text)
      return body === null ? [] : [`${name} ${JSON.stringify(body)}`]
    },
    ceiling: (_, prices) => prices[price],
    answer(ask): Answered {
      const read = readBody(ask, Object.keys(parameters))
      if (isRefused(read)) return { refused: read, status: 400 }
      const filters = readFilters(read.body, parameters)
      if (isRefused(filters)) return { refused: filters as BadRequest, status: 400 }
      const found = readDocument(filters as Filters<K>, world, ask)
      if (isRefused(found)) return { refused: found, status: 400 }
      return {
        data: (found as { data: unknown }).data,
        credits: ask.prices[price],
        ignoredFields: read.ignoredFields,
        creditsAt: 'metadata',
      }
    },
  }
}

/** The nine identifiers, as parameters of a read. */
export const referenceParameters: Record<(typeof companyIdentifiers)[number], 'text'> = Object.fromEntries(
  companyIdentifiers.map((name) => [name, 'text']),
) as never

/**
 * Returns the company of the world that a body refers to. Null for a company that the world does not have, of which
 * nothing is told.
 */
export function readCompany(body: Record<string, unknown>, ask: PaidAsk): WorldCompany | null | BadRequest {
  const reference = readReference(body)
  if (isRefused(reference)) return reference
  const domain = 'domain' in reference ? reference.domain : companyOf(reference, ask.logoUrl)?.domain
  return companyOfDomain(domain ?? '') ?? null
}
