import type { Contract } from '../catalogue/catalogue.ts'
import type { FieldType, RequestField } from '../catalogue/entry.ts'
import { badCall, near, quoted } from './bad-call.ts'
import { guardClosedWords } from './guard-words.ts'

const day = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

/**
 * Checks the body of a call against the catalogue: names, types, counts, closed vocabularies. The service drops a key that it does
 * not know and answers as if nothing had been asked, so an unknown key is refused here. `knowsKeys` is false for another path than the
 * catalogue's. Throws InputError with the place.
 */
export function checkBody(
  contract: Contract,
  body: Readonly<Record<string, unknown>>,
  { knowsKeys = true }: { knowsKeys?: boolean } = {},
): void {
  const { operation, request, oneOf } = contract
  const given = Object.entries(body).filter(([, value]) => value !== undefined)
  const unknown = knowsKeys ? given.filter(([name]) => !Object.hasOwn(request, name)) : []
  if (unknown.length > 0)
    throw badCall(
      operation,
      unknown
        .slice(0, mostUnknown)
        .map(([name]) => `${quotedName(name)} is not a key of ${operation}${meant(name, request)}`)
        .join('; '),
    )
  // Stored with the request, the ledger would take it for a value of its own, and read no page with it any more.
  if (Object.hasOwn(body, packedName))
    throw badCall(operation, `${packedName} is a name of the ledger's own, and no key of a request`)
  for (const [name, value] of given) {
    const field = Object.hasOwn(request, name) ? request[name] : undefined
    if (!field) continue
    const problem = problemOf(field, value)
    if (problem !== undefined) throw badCall(operation, `${name}${problem}`)
  }
  guardClosedWords(contract, body)
  if (!knowsKeys) return
  const names = given.map(([name]) => name)
  for (const [name, { isRequired }] of Object.entries(request))
    if (isRequired && !names.includes(name)) throw badCall(operation, `${name} is missing`)
  if (changesNothing(contract, names))
    throw badCall(operation, 'it changes nothing: name a key with its new value')
  if (oneOf) {
    const references = names.filter((name) => oneOf.includes(name))
    if (references.length === 0) throw badCall(operation, `it names none of ${oneOf.join(', ')}`)
    if (references.length > 1)
      throw badCall(operation, `it names ${references.join(' and ')}; one of them is enough`)
  }
}

/** More than this says nothing more. */
const mostUnknown = 5
/** As in src/store/packed/packed-json.ts. */
const packedName = '$z'

/** True for a change that names its subject alone, which the service would carry out, and count. */
function changesNothing({ method, path }: Contract, names: readonly string[]): boolean {
  const isChange = method.value === 'PATCH' || method.value === 'PUT'
  return isChange && names.every((name) => path.value.includes(`{${name}}`))
}

/** Returns what follows the name of a key: ` is not a text`, or `[1] is empty` for an entry of a list. */
function problemOf(field: RequestField, value: unknown): string | undefined {
  const wrong = types[field.is](value)
  if (wrong !== undefined) return wrong
  const [least, most] = field.within ?? [0, Infinity]
  if (Array.isArray(value)) {
    if (value.length === 0) return ' is an empty list'
    return value.length < least || value.length > most
      ? ` has ${value.length} ${value.length === 1 ? 'entry' : 'entries'}, and takes ${least} to ${most}`
      : undefined
  }
  if (typeof value === 'number' && (value < least || value > most))
    return most === Infinity ? ` is below ${least}` : ` is not between ${least} and ${most}`
  if (typeof value === 'string' && field.matches && !field.matches[0].test(value))
    return ` is not ${field.matches[1]}`
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Check = (value: unknown) => string | undefined

const is =
  (test: (value: unknown) => boolean, name: string): Check =>
  (value) =>
    test(value) ? undefined : ` is not ${name}`

const listOf =
  (check: Check, name: string): Check =>
  (value) => {
    if (!Array.isArray(value)) return ` is not a list of ${name}`
    const wrong = value.findIndex((each) => check(each) !== undefined)
    return wrong === -1 ? undefined : `[${wrong}]${check(value[wrong])}`
  }

const text: Check = (value) => {
  if (typeof value !== 'string') return ' is not a text'
  if (value.trim() === '') return ' is empty'
  return isStorable(value) ? undefined : ' has characters that no text has'
}
const object: Check = (value) => {
  if (!isObject(value)) return ' is not an object'
  return isStorable(value)
    ? undefined
    : ` has characters that no text has, or more than ${deepest} objects in one another`
}
const integer = is(Number.isSafeInteger, 'a whole number')

/** Says of each type what is wrong with a value. */
const types: Readonly<Record<FieldType, Check>> = {
  text,
  texts: listOf(text, 'texts'),
  integer,
  integers: listOf(integer, 'whole numbers'),
  number: is(Number.isFinite, 'a number'),
  flag: is((value) => typeof value === 'boolean', 'true or false'),
  dates: rangeProblem,
  object,
  objects: listOf(object, 'objects'),
}

const rangeForm = '{ "from": "YYYY-MM-DD", "to": "YYYY-MM-DD" }, with one of them or both'

function rangeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return ` is not ${rangeForm}`
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  const other = names.find((name) => name !== 'from' && name !== 'to')
  if (other !== undefined || names.length === 0) return ` is not ${rangeForm}`
  for (const name of names) {
    const end = value[name]
    if (typeof end !== 'string' || !day.test(end) || !isDay(end)) return `.${name} is not a day as YYYY-MM-DD`
  }
  const { from, to } = value as { from?: string; to?: string }
  return from !== undefined && to !== undefined && from > to ? `: from ${from} is after to ${to}` : undefined
}

/** The 30th of February reads as a day of March. */
function isDay(date: string): boolean {
  const read = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date)
}

/** Deeper objects are no filters or parameters, and would exhaust the stack where they are read. */
const deepest = 20

/** Half a pair of surrogates is changed on the way, and Postgres stores no character zero. */
function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth === deepest) return false
  return Object.entries(value).every(([name, each]) => isStorable(name) && isStorable(each, depth + 1))
}

/** A name from outside may hold anything. */
function quotedName(name: string): string {
  return /^\w{1,60}$/.test(name) ? name : quoted(name)
}

function meant(name: string, request: Contract['request']): string {
  const names = Object.keys(request)
  return near(name, names) || ` (it has ${names.join(', ') || 'none'})`
}
