import { ConfigError } from '../domain/errors.ts'
import { isBlank } from '../domain/mapping/mapping.ts'
import { nearNames } from '../domain/normalise/near-names.ts'
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
  for (const { property } of filter) {
    if (known.includes(property)) continue
    const near = nearNames(property, known)
    throw new ConfigError(
      'bad_filter',
      `the CRM has no property "${property}" to filter by${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}`,
    )
  }
}

function same(value: unknown, wanted: string): boolean {
  return (
    String(value ?? '')
      .trim()
      .toLowerCase() === wanted.trim().toLowerCase()
  )
}
