import { InputError } from '../../domain/errors.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import type { FieldType, RequestField } from '../catalogue/entry.ts'

const day = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

/**
 * Checks the body of a call against the catalogue: names, types, counts. The service drops a key that it does not know and
 * answers as if nothing had been asked, so an unknown key is refused here. Throws InputError with the place.
 */
export function checkBody(
  contract: Contract,
  body: Readonly<Record<string, unknown>>,
  { knowsKeys = true }: { knowsKeys?: boolean } = {},
): void {
  const { operation, request, oneOf } = contract
  const given = Object.entries(body).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    const field = Object.hasOwn(request, name) ? request[name] : undefined
    if (!field && !knowsKeys) continue
    if (!field) throw refused(operation, `${name} is not a key of ${operation}${meant(name, request)}`)
    const problem = problemOf(field, value)
    if (problem !== undefined) throw refused(operation, `${name} ${problem}`)
  }
  if (!knowsKeys) return
  const names = given.map(([name]) => name)
  for (const [name, { isRequired }] of Object.entries(request))
    if (isRequired && !names.includes(name)) throw refused(operation, `${name} is missing`)
  if (oneOf) {
    const references = names.filter((name) => oneOf.includes(name))
    if (references.length === 0) throw refused(operation, `it names none of ${oneOf.join(', ')}`)
    if (references.length > 1)
      throw refused(operation, `it names ${references.join(' and ')}; one of them is enough`)
  }
}

function problemOf(field: RequestField, value: unknown): string | undefined {
  const wrong = typeProblem(field.is, value)
  if (wrong !== undefined) return wrong
  const [least, most] = field.within ?? [0, Infinity]
  if (Array.isArray(value)) {
    if (value.length === 0) return 'is an empty list'
    return value.length < least || value.length > most ? `takes ${least} to ${most} entries` : undefined
  }
  if (typeof value === 'number' && (value < least || value > most))
    return most === Infinity ? `is below ${least}` : `is not between ${least} and ${most}`
  if (typeof value === 'string') {
    if (value.trim() === '') return 'is empty'
    if (field.matches && !field.matches[0].test(value)) return `is not ${field.matches[1]}`
  }
  return undefined
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Says of each type what a value of another one must be. */
const types: Readonly<Record<FieldType, readonly [(value: unknown) => boolean, string]>> = {
  text: [(value) => typeof value === 'string', 'a text'],
  texts: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts'],
  integer: [Number.isSafeInteger, 'a whole number'],
  integers: [(value) => Array.isArray(value) && value.every(Number.isSafeInteger), 'a list of whole numbers'],
  number: [Number.isFinite, 'a number'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  dates: [isRange, '{ "from": "YYYY-MM-DD", "to": "YYYY-MM-DD" }, with one of them or both'],
  object: [isObject, 'an object'],
  objects: [(value) => Array.isArray(value) && value.every(isObject), 'a list of objects'],
}

function typeProblem(type: FieldType, value: unknown): string | undefined {
  const [is, name] = types[type]
  return is(value) ? undefined : `is not ${name}`
}

function isRange(value: unknown): boolean {
  if (!isObject(value)) return false
  const { from, to, ...others } = value as Record<string, unknown>
  const ends = [from, to].filter((end) => end !== undefined)
  if (ends.length === 0 || Object.keys(others).length > 0) return false
  if (!ends.every((end) => typeof end === 'string' && day.test(end) && isDay(end))) return false
  return typeof from !== 'string' || typeof to !== 'string' || from <= to
}

/** The 30th of February reads as a day of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function meant(name: string, request: Contract['request']): string {
  const near = nearNames(name, Object.keys(request))
  return near.length > 0
    ? ` (near: ${near.join(', ')})`
    : ` (it has ${Object.keys(request).join(', ') || 'none'})`
}

function refused(operation: string, problem: string): InputError {
  return new InputError('bad_call', `${operation}: ${problem}`)
}
