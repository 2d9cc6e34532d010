import { InputError } from '../../domain/errors.ts'
import type { Catalogue, Contract } from '../catalogue/catalogue.ts'
import type { PreparedRequest } from '../prepared-request.ts'
import { urlOf } from '../urls.ts'
import { decodeWhole } from './read-answer.ts'
import { onTheWire } from './on-the-wire.ts'
import { checkBody } from './check-body.ts'
import type { Operation } from '../../domain/words.ts'

/** The key of a stored request under which a call names another path than the catalogue. No body has it. */
export const otherPath = '$path'

/** Methods whose requests have no body: what is no part of the path goes into the query. */
const bodyless: readonly string[] = ['GET', 'DELETE']

/**
 * Prepares the request of an operation that has no endpoint of its own code: a search, read, action, or the account. Throws
 * InputError for a body that the catalogue refuses, so that it is never paid for.
 */
export function prepareCall(
  serviceUrl: string,
  catalogue: Catalogue,
  operation: Operation,
  request: Readonly<Record<string, unknown>>,
): PreparedRequest {
  const { [otherPath]: path, ...body } = request
  const known = catalogue.of(operation)
  const contract = typeof path === 'string' ? { ...known, path: { ...known.path, value: path } } : known
  // The keys of another path are not known here.
  checkBody(contract, body, { knowsKeys: path === undefined })
  const { method, timeoutMs, pricedBy = [] } = contract
  const { path: filled, rest } = filledPath(contract, body)
  const sent = onTheWire(contract, rest)
  const hasBody = !bodyless.includes(method.value)
  const query = hasBody ? '' : queryOf(sent)
  const prices = pricedBy.flatMap((name) =>
    rest[name] === undefined ? [] : [`${name} ${String(rest[name])}`],
  )
  return {
    operation,
    // The template, and not the path: an id is no part of what has a price.
    endpoint: `${method.value} ${urlOf(serviceUrl, contract.path.value)}${prices.length > 0 ? ` (${prices.join(', ')})` : ''}`,
    method: method.value,
    url: urlOf(serviceUrl, filled) + query,
    body: hasBody ? JSON.stringify(sent) : '',
    timeoutMs,
    decode: decodeWhole(contract),
  }
}

/** Puts the parameters of the path in their places. The rest is the body. */
function filledPath(
  { operation, path: { value: template } }: Contract,
  body: Readonly<Record<string, unknown>>,
): { path: string; rest: Record<string, unknown> } {
  const rest = { ...body }
  const path = template.replace(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = rest[name]
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new InputError('bad_call', `${operation}: ${name} is missing: it is a part of the path`)
    delete rest[name]
    // Two dots would climb out of the path, and an encoded one is decoded on the way.
    if (/^\.+$/.test(String(value))) throw new InputError('bad_call', `${operation}: ${name} is no id`)
    return encodeURIComponent(String(value))
  })
  return { path, rest }
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)])
  return pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : ''
}
