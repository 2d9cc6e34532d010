import { ConfigError, InputError } from '../../../domain/errors.ts'
import type { PageBounds } from '../../../domain/lists/list-parts.ts'
import type { Atomic } from '../../../domain/money.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import { usualPageSize } from '../../../service/calls/guard-limits.ts'
import type { Config } from '../../config/config.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { searchesOf, type ListSearch } from './partitions.ts'
import type { Exclusions } from '../exclusions/read-exclusions.ts'
import { knownOfAccount, withAcceptedNames } from '../../service/known-of-account.ts'
import { planCall, type PlannedCall } from '../../service/plan-call.ts'

/** The calls of a list's search: one a page of each part. */
export interface ListCalls {
  name: string
  settings: ListSettings
  pageSize: number
  /** The last page that the service answers; undefined where neither the plan nor a refusal has told it. */
  lastPage: number | undefined
  /** A search each, whose rows together are the list. */
  parts: readonly PartCalls[]
  /** The records that the list's filters leave out, once a command has read them. */
  exclusions?: Exclusions | undefined
}

export interface PartCalls {
  name: string
  page(number: number): PlannedCall
}

/** Returns the call of a page. Page 1 of the first part tells what is true of all: operation, price and cap. */
export function callOf({ parts }: Pick<ListCalls, 'parts'>, part = 0, page = 1): PlannedCall {
  const found = parts[part]
  if (!found) throw new RangeError(`a list has no part ${part}`)
  return found.page(page)
}

export function boundsOf({ pageSize, lastPage, settings: { limit } }: ListCalls): PageBounds {
  return { pageSize, lastPage, limit }
}

/** Returns the settings of a list. Throws ConfigError with the near names. */
export function listNamed({ lists }: Pick<Config, 'lists'>, name: string): ListSettings {
  const found = Object.hasOwn(lists, name) ? lists[name] : undefined
  if (found) return found
  const known = Object.keys(lists)
  const near = nearNames(name, known)
  throw new ConfigError(
    'no_list',
    known.length === 0
      ? 'there are no lists: name one under lists in paydirt.config.ts (docs/lists.md)'
      : `there is no list ${name}; ${near.length > 0 ? `near: ${near.join(', ')}` : `there are ${known.join(', ')}`}`,
  )
}

/**
 * Returns the calls of a list. `asks` allows a free question for the plan's limits. Throws InputError for filters that the catalogue or the
 * guard refuses, and ConfigError for a CRM or an object that is not set up.
 */
export async function listCalls(
  context: Context,
  name: string,
  { asks, maxAtomic }: { asks: boolean; maxAtomic?: Atomic | undefined },
): Promise<ListCalls> {
  const settings = listNamed(context.config, name)
  const known = await knownOfAccount(context, { asks })
  const config = await withAcceptedNames(context.config, context)
  const pageOf = ({ filters, place }: ListSearch, number: number) => {
    try {
      return planCall(
        config,
        { operation: settings.search, body: { ...filters, page: number }, maxAtomic },
        known,
      )
    } catch (error) {
      if (error instanceof InputError)
        throw new InputError(error.code, `${place}: ${error.message}`, { cause: error })
      throw error
    }
  }
  const asked = settings.filters['per_page']
  const refused = known.limits.find(
    (limit) => limit.operation === settings.search && limit.name === 'page',
  )?.value
  const parts = searchesOf(name, settings).map((search) => ({
    name: search.name,
    page: (number: number) => pageOf(search, number),
  }))
  // Filters that are refused are refused before anything is opened or bought.
  for (const part of parts) part.page(1)
  return {
    name,
    settings,
    pageSize: typeof asked === 'number' ? asked : (known.pageSize ?? usualPageSize),
    lastPage: known.lastPage === undefined ? refused : Math.min(known.lastPage, refused ?? Infinity),
    parts,
  }
}
