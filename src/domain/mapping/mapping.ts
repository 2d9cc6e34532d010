import { fieldNames } from '../fields.ts'
import { nearNames } from '../normalise/near-names.ts'
import type { Identity } from '../record.ts'
import type { ObjectKind } from '../words.ts'

/** What a CRM's field holds, in words that all CRMs share. `option` is a picklist, `options` one with many choices. */
export type FieldType =
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'option'
  | 'options'
  | 'email'
  | 'phone'
  | 'url'
  | 'reference'
  | 'other'

interface FieldOption {
  value: string
  label: string
}

/** A field of the CRM, as its describe call tells. */
export interface DescribedField {
  /** The CRM's own name: `numberofemployees`, `Profnet_URL__c`. */
  name: string
  label: string
  type: FieldType
  writable: boolean
  /** Made by a user or an app, not by the CRM. */
  custom: boolean
  /** Characters a text may have; absent where nothing is told. */
  maxLength?: number
  /** Present for `option` and `options`. */
  options?: readonly FieldOption[]
  /** False for a picklist that takes other values too. Default true. */
  restricted?: boolean
}

/** How a value is written where the field's type alone does not say it. */
export const conversions = [
  'text',
  'number',
  'option',
  'options',
  'phone',
  'country_code',
  'country_name',
] as const
type Conversion = (typeof conversions)[number]

export interface FieldMapping {
  property: string
  as?: Conversion
  /** Values of the service with the option each one means, where their names do not tell. */
  options?: Readonly<Record<string, string>>
  /** The property is ours: it is created when the CRM lacks it. */
  create?: { label: string; type: 'text' | 'number' | 'url' }
}

export type IdentityField = keyof Identity

/** How one entity of a CRM stands to the canonical fields of its object. */
export interface EntityMapping {
  object: ObjectKind
  /** By canonical field name (domain/fields.ts). A field that is absent is never read or written. */
  fields: Readonly<Record<string, FieldMapping>>
  /**
   * Properties that identify a record, the best first: the first that is filled is taken. `Account.Name` reads through a
   * reference, where the CRM can.
   */
  identity: Readonly<Partial<Record<IdentityField, readonly string[]>>>
}

/** The fields by which our own writes are shown and recognised. */
export interface OwnFields {
  status: string
  enrichedAt: string
  source: string
}

export interface CrmMapping {
  entities: Readonly<Record<string, EntityMapping>>
  own: OwnFields
}

/** Returns each entity of a mapping with the kind of object that it stands for. */
export function entityObjects({ entities }: CrmMapping): Record<string, ObjectKind> {
  return Object.fromEntries(Object.entries(entities).map(([entity, { object }]) => [entity, object]))
}

export interface MappingProblem {
  code: 'unknown_property' | 'read_only' | 'wrong_type'
  /** Where it stands in the mapping: `fields.industry` or `identity.email`. */
  at: string
  property: string
  /** Names that were probably meant, the nearest first. */
  near: string[]
  message: string
}

/**
 * What of a mapping does not fit the CRM: properties that do not exist (with the near names), that cannot be written, or
 * that can hold nothing of ours. Properties with `create` may be missing. Empty when all is well.
 */
export function checkMapping(mapping: EntityMapping, described: readonly DescribedField[]): MappingProblem[] {
  const byName = new Map(described.map((field) => [field.name, field]))
  const problems: MappingProblem[] = []
  for (const [canonical, { property, create }] of Object.entries(mapping.fields)) {
    const at = `fields.${canonical}`
    const field = byName.get(property)
    if (!field) {
      if (!create) problems.push(unknown(at, property, described, true))
    } else if (!field.writable) {
      const near = nearProperties(
        property,
        described.filter((other) => other.writable),
      )
      problems.push({
        code: 'read_only',
        at,
        property,
        near,
        message: `${at}: the property "${property}" is read-only${meant(near)}`,
      })
    } else if (field.type === 'reference' || field.type === 'other') {
      problems.push({
        code: 'wrong_type',
        at,
        property,
        near: [],
        message: `${at}: the property "${property}" does not hold plain values`,
      })
    }
  }
  const created = new Set(
    Object.values(mapping.fields).flatMap(({ property, create }) => (create ? [property] : [])),
  )
  for (const [name, properties] of Object.entries(mapping.identity)) {
    for (const property of properties) {
      if (!byName.has(property) && !created.has(property) && !isThroughReference(property, described))
        problems.push(unknown(`identity.${name}`, property, described, false))
    }
  }
  return problems
}

/** Every property of an entity that a record must be read with, each once. */
export function propertiesOf(mapping: EntityMapping): string[] {
  return [
    ...new Set([
      ...Object.values(mapping.identity).flat(),
      ...Object.values(mapping.fields).map(({ property }) => property),
    ]),
  ]
}

/** The canonical field that a property stands for; undefined when the mapping has none. */
export function canonicalOf(mapping: EntityMapping, property: string): string | undefined {
  return Object.entries(mapping.fields).find(([, field]) => field.property === property)?.[0]
}

/** Identifying values of a record by the CRM's names. A blank is a blank whether it is null, "", white space or missing. */
export function identityOf(mapping: EntityMapping, values: Readonly<Record<string, unknown>>): Identity {
  const identity: Identity = {}
  for (const [name, properties] of Object.entries(mapping.identity)) {
    const filled = properties
      .map((property) => values[property])
      .find((value) => !isBlank(value) && (typeof value === 'string' || typeof value === 'number'))
    if (filled !== undefined) identity[name as IdentityField] = String(filled).trim()
  }
  return identity
}

export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
}

/** Canonical names in a mapping that the object does not have, with what was probably meant. */
export function unknownFields(mapping: Pick<EntityMapping, 'object' | 'fields'>): string[] {
  const known = fieldNames(mapping.object)
  return Object.keys(mapping.fields)
    .filter((name) => !known.includes(name))
    .map((name) => `there is no field "${name}" of a ${mapping.object}${meant(nearNames(name, known))}`)
}

/** `Account.Name`: a field of the record that a reference (`AccountId`) points to. Connectors read it under this name. */
function isThroughReference(property: string, described: readonly DescribedField[]): boolean {
  const [reference, field] = property.split('.')
  return (
    field !== undefined &&
    described.some(({ name, type }) => type === 'reference' && name === `${reference}Id`)
  )
}

function unknown(
  at: string,
  property: string,
  described: readonly DescribedField[],
  mustBeWritable: boolean,
): MappingProblem {
  const near = nearProperties(
    property,
    described.filter(({ writable }) => writable || !mustBeWritable),
  )
  return {
    code: 'unknown_property',
    at,
    property,
    near,
    message: `${at}: the CRM has no property "${property}"${meant(near)}`,
  }
}

/** A user may know a property by its label: both are compared, and the name is answered. */
function nearProperties(property: string, described: readonly DescribedField[]): string[] {
  const byName = nearNames(
    property,
    described.map(({ name }) => name),
  )
  const byLabel = nearNames(
    property,
    described.map(({ label }) => label),
  ).flatMap((label) => described.filter((field) => field.label === label).map(({ name }) => name))
  return [...new Set([...byName, ...byLabel])].filter((name) => name !== property).slice(0, 3)
}

function meant(near: readonly string[]): string {
  return near.length > 0 ? ` (near: ${near.join(', ')})` : ''
}
