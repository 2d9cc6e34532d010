import { ConfigError } from '../domain/errors.ts'
import { isBlank } from '../domain/mapping/mapping.ts'
import { nearNames } from '../domain/normalise/near-names.ts'
import type { ScanFilter } from './connector.ts'

/** Whether a record, by the CRM's names, meets every condition. Texts are compared without letter case. */
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

/**
 * Reads conditions as they are written on a command line: `industry=`, `industry!=`, `lifecyclestage=lead`,
 * `country!=France`. Throws ConfigError.
 */
export function parseFilter(text: string): ScanFilter {
  const found = /^\s*([\w.]+)\s*(!?=)\s*(.*?)\s*$/.exec(text)
  if (!found)
    throw new ConfigError(
      'bad_filter',
      `"${text}" is not a filter such as lifecyclestage=lead, industry= (blank) or phone!= (filled)`,
    )
  const [, property = '', operator, value = ''] = found
  const isNegative = operator === '!='
  if (value === '') return { property, is: isNegative ? 'filled' : 'blank' }
  return { property, is: isNegative ? 'different' : 'equal', value }
}

/** Refuses a filter on a property that does not exist: it would silently match all records or none. */
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
