import { ConfigError } from '../../domain/errors.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import type { ScanFilter } from '../connector.ts'
import type { DescribedObject, SalesforceField } from './api/schema-cache.ts'
import { soqlName, soqlText, soqlTime } from './api/soql.ts'

/** Returns a scan's condition in SOQL. Throws ConfigError for a field that does not exist or cannot be compared. */
export function soqlFilter(filter: ScanFilter, object: DescribedObject): string {
  const field = object.fields.get(filter.property)
  if (!field) {
    const near = nearNames(filter.property, [...object.fields.keys()])
    throw badFilter(
      `${object.name} has no field "${filter.property}"${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}`,
    )
  }
  if (!field.filterable) throw badFilter(`Salesforce does not compare "${field.name}": it is a long text`)
  const name = soqlName(field.name)
  switch (filter.is) {
    case 'blank':
      return `${name} = null`
    case 'filled':
      return `${name} != null`
    case 'equal':
      return `${name} = ${literal(field, filter.value)}`
    case 'different':
      return `${name} != ${literal(field, filter.value)}`
  }
}

function literal(field: SalesforceField, value: string): string {
  const text = value.trim()
  switch (field.type) {
    case 'number':
    case 'integer':
      if (/^-?\d+(\.\d+)?$/.test(text)) return text
      throw badFilter(`"${field.name}" is compared with a number`)
    case 'boolean':
      if (/^(true|false)$/i.test(text)) return text.toLowerCase()
      throw badFilter(`"${field.name}" is compared with true or false`)
    case 'date':
      if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text
      throw badFilter(`"${field.name}" is compared with a day such as 2026-11-20`)
    case 'datetime':
      if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text)))
        return soqlTime(Date.parse(text))
      throw badFilter(`"${field.name}" is compared with a time such as 2026-11-20T08:00:00Z`)
    default:
      return soqlText(value)
  }
}

function badFilter(message: string): ConfigError {
  return new ConfigError('bad_filter', message)
}
