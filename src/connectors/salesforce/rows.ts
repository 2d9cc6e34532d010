import { fromCrm } from '../../domain/mapping/convert.ts'
import { isBlank, type EntityMapping, type OwnFields } from '../../domain/mapping/mapping.ts'
import type { StampValue } from '../../domain/mapping/stamp.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { Row } from './api/answers.ts'
import type { DescribedObject } from './api/schema-cache.ts'

export type Values = Record<string, StampValue>

/** Returns a row's plain values by field name, a parent's as `Account.Name`. */
export function flatten(row: Row): Values {
  const values: Values = {}
  for (const [name, value] of Object.entries(row)) {
    if (name === 'attributes') continue
    if (typeof value !== 'object' || value === null) values[name] = value as StampValue
    else
      for (const [inner, innerValue] of Object.entries(value))
        if (inner !== 'attributes' && typeof innerValue !== 'object') values[`${name}.${inner}`] = innerValue
  }
  return values
}

/** Returns the row of a contact without its account where contact and account are one person: it names no employer. */
export function withoutOwnAccount(row: Row): Row {
  return row['IsPersonAccount'] === true ? { ...row, Account: null } : row
}

/** Returns the fields that the mapping may write and the org has. */
export function mappedFields(mapping: EntityMapping, object: DescribedObject): string[] {
  const names = Object.values(mapping.fields).map(({ property }) => property)
  return [...new Set(names)].filter((name) => object.fields.has(name))
}

/** Returns a row's values by canonical field, without blanks. */
export function valuesOf(
  row: Values,
  mapping: EntityMapping,
  object: DescribedObject,
): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {}
  for (const [canonical, wanted] of Object.entries(mapping.fields)) {
    const field = object.fields.get(wanted.property)
    const value = field && fromCrm(row[wanted.property], field, wanted)
    if (value !== undefined) values[canonical] = value
  }
  return values
}

/** Returns the fields that identify a record and that the org has. */
export function identityFields(mapping: EntityMapping, object: DescribedObject): string[] {
  return [...new Set(Object.values(mapping.identity).flat())].filter((name) => object.fields.has(name))
}

/** Returns whether the fields of our stamp can be read: without one of them our writes cannot be recognised. */
export function hasStamp(own: OwnFields, object: DescribedObject): boolean {
  return object.fields.has(own.source) && object.fields.has(own.enrichedAt)
}

export function timeOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(atMs) ? undefined : atMs
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}
