import { ConfigError } from '../domain/errors.ts'
import { isBlank } from '../domain/mapping/mapping.ts'
import { nearNames } from '../domain/normalise/near-names.ts'
import type { FieldValue } from '../domain/record.ts'
import type { ScanFilter } from './connector.ts'

/** Returns whether a record, by the CRM's names, meets every condition. Texts are compared without regard to case. */
export function meets(values: Readonly<Record<string, unknown>>, filter: readonly ScanFilter[]): boolean {
  return filter.every((condition) => {
    const value = values[condition.property]
    switch (condition.is) {
      case 'blank':
        return isBlank(value)
      case 'filled':
        return !isBlank(value)
      case 'equal':
        return same(value, condition.value)
      case 'different':
        return !same(value, condition.value)
    }
  })
}

/** Throws ConfigError for a filter on an unknown property: it would silently match all records or none. */
export function assertFilter(filter: readonly ScanFilter[], known: readonly string[]): void {
  for (const { property } of filter)
    if (!known.includes(property)) throw unknown(property, 'to filter by', known)
}

/** Throws ConfigError for an unknown property that the records of a scan are to hold. */
export function assertProperties(names: readonly string[], known: readonly string[]): void {
  for (const name of names) if (!known.includes(name)) throw unknown(name, 'to read', known)
}

/** Returns the named properties of a record, by the CRM's names, without blanks; nothing where none is asked for. */
export function handedOut(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
): { properties?: Record<string, FieldValue> } {
  if (names.length === 0) return {}
  const found = names.flatMap((name): [string, FieldValue][] => {
    const value = values[name]
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isScalar && !isBlank(value) ? [[name, value]] : []
  })
  return { properties: Object.fromEntries(found) }
}

function unknown(property: string, purpose: string, known: readonly string[]): ConfigError {
  const near = nearNames(property, known)
  return new ConfigError(
    'bad_filter',
    `the CRM has no property "${property}" ${purpose}${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}`,
  )
}

function same(value: unknown, wanted: string): boolean {
  return (
    String(value ?? '')
      .trim()
      .toLowerCase() === wanted.trim().toLowerCase()
  )
}
