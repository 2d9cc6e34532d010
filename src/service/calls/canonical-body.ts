import { defaultNetworkHosts } from '../../domain/keys.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import type { RequestField } from '../catalogue/entry.ts'
import { badCall } from './bad-call.ts'
import { checkBody } from './check-body.ts'
import { foldText } from './fold-text.ts'
import { comparedWords } from './fold-words.ts'
import { searchOfContact } from './lookup-call-key.ts'
import { otherPath } from './prepare-call.ts'
import { sortedKeys } from './stable-json.ts'

/** The body of a call in the one form that is sent and digested. */
export type CanonicalBody = Readonly<Record<string, unknown>>

/**
 * Returns the body that all spellings of one call share: keys and lists sorted, doubles left out, domains, URLs and words folded,
 * aliases under the name they stand for, defaults left out, and the page left out, which has a place of its own in the key.
 * Idempotent. With another path the keys that the catalogue does not know stay as they are. Throws InputError with the place of a
 * value that cannot be read.
 */
export function canonicalBody(
  contract: Contract,
  body: Readonly<Record<string, unknown>>,
  { hosts = defaultNetworkHosts }: { hosts?: readonly string[] } = {},
): CanonicalBody {
  const knowsKeys = body[otherPath] === undefined
  checkBody(contract, body, { knowsKeys })
  const folded: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(body)) {
    const field = Object.hasOwn(contract.request, given) ? contract.request[given] : undefined
    if (value === undefined || (given === 'page' && field)) continue
    if (!field) {
      folded[given] = value
      continue
    }
    const name = field.aliasOf ?? given
    const one = foldValue(contract, given, field, value, hosts)
    folded[name] = Object.hasOwn(folded, name) ? merged(contract, [name, given], folded[name], one) : one
  }
  if (contract.operation === 'contact.lookup' && knowsKeys) return contactBody(contract, folded)
  const entries = Object.entries(folded).flatMap(([name, value]): [string, unknown][] => {
    const field = Object.hasOwn(contract.request, name) ? contract.request[name] : undefined
    if (field?.default === value && field) return []
    return [[name, field && Array.isArray(value) ? listed(value) : value]]
  })
  return sortedKeys(Object.fromEntries(entries))
}

/** The body of the planner's search for the same person: by e-mail, else phone, else name. */
function contactBody(contract: Contract, folded: Readonly<Record<string, unknown>>): CanonicalBody {
  const asked = searchOfContact(folded)
  if (!asked.ok) throw badCall(contract.operation, asked.reason)
  return sortedKeys(asked.search.request)
}

function foldValue(
  contract: Contract,
  name: string,
  field: RequestField,
  value: unknown,
  hosts: readonly string[],
): unknown {
  const folded = (raw: string, index?: number): string => {
    const text = foldText(contract, name, field, raw, hosts)
    if (text.ok) return text.value
    throw badCall(contract.operation, `${name}${index === undefined ? '' : `[${index}]`}: ${text.reason}`)
  }
  if (field.is === 'text') return folded(value as string)
  if (field.is !== 'texts') return value
  const texts = (value as string[]).map((raw, index) => folded(raw, index))
  return field.fold === 'words' ? oneSpelling(texts) : texts
}

/** The service reads two spellings of a word as one. The one with the most spaces tells it the words apart. */
function oneSpelling(texts: readonly string[]): string[] {
  const best = new Map<string, string>()
  for (const text of texts) {
    const word = comparedWords(text)
    const known = best.get(word)
    if (known === undefined || text.length > known.length || (text.length === known.length && text < known))
      best.set(word, text)
  }
  return [...best.values()]
}

function merged(contract: Contract, names: readonly [string, string], first: unknown, second: unknown) {
  if (Array.isArray(first) && Array.isArray(second)) {
    const both = [...(first as string[]), ...(second as string[])]
    return contract.request[names[0]]?.fold === 'words' ? oneSpelling(both) : both
  }
  if (first === second) return first
  throw badCall(contract.operation, `${names.join(' and ')} are two names of one key, with two values`)
}

/** Lists of texts and numbers are sets to the service. The order of objects may mean something. */
function listed(values: readonly unknown[]): readonly unknown[] {
  if (values.every((value) => typeof value === 'number'))
    return [...new Set(values as number[])].sort((a, b) => a - b)
  if (!values.every((value) => typeof value === 'string')) return values
  const sorted = (values as string[]).toSorted()
  return sorted.filter((value, index) => value !== sorted[index - 1])
}
