import type { LookupKey } from '../../domain/keys.ts'
import { operationRow } from '../../domain/operations.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { badCall } from './bad-call.ts'
import { callKey } from './call-key.ts'
import { canonicalBody, type CanonicalBody } from './canonical-body.ts'
import { guardLimits, usualPageSize, type CallLimits } from './guard-limits.ts'
import { guardWords, type KnownWords } from './guard-words.ts'
import { otherPath } from './prepare-call.ts'

export interface CheckOptions {
  /** The hosts of the network, the one in requests first. */
  hosts?: readonly string[] | undefined
  /** Words of answers and settings. */
  known: KnownWords
  /** Words of open lists that nothing has shown are sent all the same. */
  unchecked?: boolean | undefined
  limits?: CallLimits | undefined
  /** Another path than the one of the catalogue. */
  path?: string | undefined
  /** The number of an action that is repeated on purpose. */
  repetition?: number | undefined
}

export interface CheckedCall {
  key: LookupKey
  /** The body without its page. */
  canonical: CanonicalBody
  /** The body that is sent. */
  body: CanonicalBody
  /** The page of a list; undefined for other operations. */
  page: number | undefined
}

/**
 * Checks a call as a whole before anything is reserved or sent, and returns its key and the body to send. A search that names no
 * size gets the largest page. Throws InputError with the place.
 */
export function checkCall(
  contract: Contract,
  given: Readonly<Record<string, unknown>>,
  { hosts, known, unchecked, limits = {}, path, repetition }: CheckOptions,
): CheckedCall {
  const { operation, request, answer } = contract
  if (Object.hasOwn(given, otherPath)) throw badCall(operation, `${otherPath} is not a key of any operation`)
  const { kind } = operationRow(operation)
  const size = { per_page: limits.perPage ?? usualPageSize }
  const isSized = kind === 'search' && request['per_page'] !== undefined && path === undefined
  const asked = { ...(isSized && size), ...given, ...(path !== undefined && { [otherPath]: path }) }
  const canonical = canonicalBody(contract, asked, hosts && { hosts })
  guardWords(contract, given, known, { unchecked: unchecked === true })
  const page = answer.rows ? ((given['page'] as number | undefined) ?? 1) : undefined
  const body = page === undefined ? canonical : { ...canonical, page }
  guardLimits(contract, body, { ...limits, all: limits.all === true || path !== undefined })
  return { key: callKey(contract, canonical, page ?? repetition ?? 1), canonical, body, page }
}
