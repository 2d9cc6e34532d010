import { createHash } from 'node:crypto'
import { lookupKey, type LookupKey } from '../../domain/keys.ts'
import { operationRow } from '../../domain/operations.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { badCall } from './bad-call.ts'
import type { CanonicalBody } from './canonical-body.ts'
import { comparedWords } from './fold-words.ts'
import { keyOfLookup } from './lookup-call-key.ts'
import { otherPath } from './prepare-call.ts'
import { sortedKeys } from './stable-json.ts'

/** The version of the canonical form. Another form of the same call needs another one, or it would be taken for another call. */
const form = 'v1'

/**
 * Returns the key under which a call is bought once. `place` is the page of a search, and the number of an action that is repeated
 * on purpose. Lookups have the keys that the planner gives them. `canonical` is what `canonicalBody` returns.
 */
export function callKey(contract: Contract, canonical: CanonicalBody, place = 1): LookupKey {
  const { operation, method, path, answer } = contract
  if (!Number.isSafeInteger(place) || place < 1)
    throw badCall(operation, 'page is not a whole number above 0')
  switch (operationRow(operation).kind) {
    case 'lookup':
      // The answer of another path is not the one that records are filled from.
      if (canonical[otherPath] === undefined) return keyOfLookup(contract, canonical)
      return lookupKey(operation, `${form}:${digestOf(comparedBody(contract, canonical))}`)
    case 'action':
      return lookupKey(
        operation,
        `${form}:${digestOf([method.value, path.value, comparedBody(contract, canonical)])}|${place}`,
      )
    default: {
      const digest = `${form}:${digestOf(comparedBody(contract, canonical))}`
      return lookupKey(operation, answer.rows ? `${digest}|${place}` : digest)
    }
  }
}

/** Returns the body with words as the service compares them: `HumanResources` asks for what `Human Resources` asks for. */
function comparedBody({ request }: Contract, canonical: CanonicalBody): CanonicalBody {
  return Object.fromEntries(
    Object.entries(canonical).map(([name, value]) => [
      name,
      request[name]?.fold === 'words' && Array.isArray(value)
        ? (value as string[]).map(comparedWords).sort()
        : value,
    ]),
  )
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortedKeys(value)))
    .digest('hex')
}
