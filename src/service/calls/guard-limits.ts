import { operationRow } from '../../domain/operations.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { badCall } from './bad-call.ts'

/** The rows of a page on most plans (service.md, 8): the maximum where no workspace tells its own. */
export const usualPageSize = 25
/** A body of a call in bytes of JSON. */
export const mostBodyBytes = 1_000_000

export interface CallLimits {
  /** The plan's maximum of `per_page`, or a smaller one that the service has refused beyond. Default: `usualPageSize`. */
  perPage?: number | undefined
  /** The last page that the plan or an earlier refusal allows. */
  page?: number | undefined
  /** Everything is asked for on purpose: a search may have no filter. */
  all?: boolean | undefined
}

/**
 * Refuses a call that the service would refuse or that asks for everything: a refused request leaves a payment in doubt until the
 * chain speaks. Throws InputError.
 */
export function guardLimits(
  contract: Contract,
  body: Readonly<Record<string, unknown>>,
  { perPage = usualPageSize, page: lastPage, all = false }: CallLimits = {},
): void {
  const { operation } = contract
  const { page, per_page: size } = body
  if (typeof size === 'number' && size > perPage)
    throw badCall(operation, `per_page is ${size}, and the service takes at most ${perPage}`)
  if (typeof page === 'number' && lastPage !== undefined && page > lastPage)
    throw badCall(operation, `page is ${page}, and the service has ${lastPage} at most`)
  if (!all && isUnfiltered(contract, body))
    throw badCall(operation, 'it has no filter and asks for everything; --all sends it all the same')
  const bytes = Buffer.byteLength(JSON.stringify(body))
  if (bytes > mostBodyBytes)
    throw badCall(operation, `its body has ${bytes} bytes, and ${mostBodyBytes} are the most`)
}

function isUnfiltered(
  { operation, request, oneOf }: Contract,
  body: Readonly<Record<string, unknown>>,
): boolean {
  const { kind } = operationRow(operation)
  if (oneOf || (kind !== 'search' && kind !== 'read')) return false
  const filters = Object.keys(request).filter((name) => request[name]?.isFilter)
  return filters.length > 0 && filters.every((name) => body[name] === undefined)
}
