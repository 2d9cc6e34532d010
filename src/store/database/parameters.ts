import { sql, type RawBuilder } from 'kysely'
import { packedName } from '../packed/packed-json.ts'

/**
 * True when a text column has one of these values. The values go as one array parameter: a list of parameters would be a
 * different statement for each length, and each would have to be parsed and planned.
 */
export function isOneOf(column: string, values: Iterable<string>): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} = any(${[...new Set(values)]}::text[])`
}

/** Yields the items in pages, so that no statement grows with a run: Postgres takes at most 65,535 parameters. */
export function* pages<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/**
 * Returns a list of texts as Postgres writes an array, and any other parameter as it is. The driver does the same with two
 * replacements and several copies for each text, and a paid lookup is named in a dozen lists.
 */
export function asArrayText(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return value
  return `{${value.map((text) => (special.test(text) ? `"${text.replace(quoted, '\\$&')}"` : `"${text}"`)).join(',')}}`
}

const special = /["\\]/
const quoted = /["\\]/g

/**
 * Postgres text cannot hold NUL or half of a surrogate pair. JSON writes both as escapes. And a foreign value must not be taken for
 * one that this program has packed.
 */
const maybeUnstorable = /\\u(0000|d[89a-f])|"\$z"/i

/**
 * Returns JSON that a jsonb column always accepts: a paid answer must not be lost because of an
 * unreadable character. Removes NUL and replaces half a surrogate pair by U+FFFD.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return isStorableText(json) ? json : JSON.stringify(clean(JSON.parse(json)))
}

/** True for JSON that a jsonb column accepts as it is, and of which nothing can be taken for a packed value. */
export function isStorableText(json: string): boolean {
  return !maybeUnstorable.test(json)
}

/** Returns a value whose JSON a jsonb column accepts: itself, if it can. */
export function storable<T>(value: T): T {
  return isStorableText(JSON.stringify(value)) ? value : (clean(value) as T)
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [cleanName(key), clean(each)]))
}

/** The name that counts is the one that is stored: taking out a NUL may make it that of a packed value. */
function cleanName(key: string): string {
  const name = key.toWellFormed().replaceAll('\0', '')
  return name === packedName ? `${name}_` : name
}

/** Returns a text that a person wrote, on one line and as a text column accepts it: no wish may fail for a character. */
export function readableText(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}
