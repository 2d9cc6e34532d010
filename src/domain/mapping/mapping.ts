import { fieldNames } from '../fields.ts'
import { nearNames } from '../normalise/near-names.ts'
import type { Identity } from '../record.ts'
import type { ObjectKind } from '../words.ts'

/** The type of a CRM's field, in words that all CRMs share. `option` is a picklist, `options` one with multiple choices. */
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

/** A field of the CRM, as its describe call returns it. */
export interface DescribedField {
  /** The CRM's own name: `numberofemployees`, `Profnet_URL__c`. */
  name: string
  label: string
  type: FieldType
  writable: boolean
  /** Made by a user or an app, not by the CRM. */
  custom: boolean
  /** A new record cannot be saved without a value in it. Absent where the CRM does not say. */
  required?: true | undefined
  /** No two records have the same value in it. */
  unique?: true | undefined
  /** The maximum length of a text. Absent where the CRM does not say. */
  maxLength?: number
  /** Present for `option` and `options`. */
  options?: readonly FieldOption[]
  /** False for a picklist that accepts other values too. Default: true. */
  restricted?: boolean
}

/** The forms of a value where the field's type does not determine one. */
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

/** The types of the properties that can be created. */
export const createTypes = ['text', 'number', 'url', 'email', 'date', 'datetime', 'boolean'] as const
export type CreateType = (typeof createTypes)[number]

export interface FieldMapping {
  property: string
  as?: Conversion
  /** The option that each value of the service means, where their names differ. */
  options?: Readonly<Record<string, string>>
  /** True: a value that is no option of an unrestricted picklist is written all the same, and kept there for ever. */
  allowNew?: boolean
  /**
   * Present for a property of ours, which is created when the CRM lacks it. An `optional` one is created for a recipe that
   * wants its field; without it the field is left out, and nothing is bought for it.
   */
  create?: { label: string; type: CreateType; optional?: true | undefined }
}

export type IdentityField = keyof Identity

/** Maps one entity of a CRM to the canonical fields of its object. */
export interface EntityMapping {
  object: ObjectKind
  /** By canonical field name (domain/fields.ts). A field that is absent is never read or written. */
  fields: Readonly<Record<string, FieldMapping>>
  /**
   * The places of fields in a record that we make, over those in `fields`: a new record needs a name also where we never write
   * one into a record that exists. Absent: those of `fields`.
   */
  create?: Readonly<Record<string, FieldMapping>>
  /**
   * Properties that identify a record, the best first: the first filled one is used. `Account.Name` reads through a reference,
   * where the CRM supports it.
   */
  identity: Readonly<Partial<Record<IdentityField, readonly string[]>>>
  /**
   * Places (`fields.founded_year`, `create.email`, `identity.email`) that come from a default mapping. An account may lack their
   * properties: those are left out. A property that the config file names must exist.
   */
  defaults?: readonly string[]
}

/** The CRM fields that show our own writes and by which they are recognised. */
export interface OwnFields {
  status: string
  enrichedAt: string
  source: string
}

export interface CrmMapping {
  entities: Readonly<Record<string, EntityMapping>>
  own: OwnFields
  /** The unique property of ours by which a record is made only once. No ordinary run needs it. */
  key?: string
}

/** Returns a default mapping: accounts differ, so each of its properties may be missing in one. */
export function asDefaults({ entities, ...ours }: CrmMapping): CrmMapping {
  return {
    ...ours,
    entities: Object.fromEntries(
      Object.entries(entities).map(([entity, mapping]) => [
        entity,
        {
          ...mapping,
          defaults: [
            ...Object.keys(mapping.fields).map((name) => `fields.${name}`),
            ...Object.keys(mapping.create ?? {}).map((name) => `create.${name}`),
            ...Object.keys(mapping.identity).map((name) => `identity.${name}`),
          ],
        },
      ]),
    ),
  }
}

/** Returns each entity of a mapping with the kind of object that it stands for. */
export function entityObjects({ entities }: CrmMapping): Record<string, ObjectKind> {
  return Object.fromEntries(Object.entries(entities).map(([entity, { object }]) => [entity, object]))
}

/** The code of a check's finding about a property of the default mapping that the account lacks. Nothing is stopped by it. */
export const fieldLeftOut = 'field_left_out'

export interface MappingProblem {
  code: 'unknown_property' | 'read_only' | 'wrong_type'
  /** The place in the mapping: `fields.industry` or `identity.email`. */
  at: string
  property: string
  /** Names that were probably meant, the nearest first. */
  near: string[]
  message: string
  /** The property comes from the default mapping: it is left out, and nothing is stopped. */
  optional: boolean
}

/**
 * Returns the properties of a mapping that do not fit the CRM: they do not exist (with similar names), cannot be written, or
 * have the wrong type. Properties with `create` may be missing, and so may those of the default mapping.
 */
export function checkMapping(mapping: EntityMapping, described: readonly DescribedField[]): MappingProblem[] {
  return findProblems(mapping, described).map((problem) => ({
    ...problem,
    optional: mapping.defaults?.includes(problem.at) === true,
  }))
}

function findProblems(
  mapping: EntityMapping,
  described: readonly DescribedField[],
): Omit<MappingProblem, 'optional'>[] {
  const byName = new Map(described.map((field) => [field.name, field]))
  const problems: Omit<MappingProblem, 'optional'>[] = []
  const places = [
    ...Object.entries(mapping.fields).map(([name, field]) => ({ at: `fields.${name}`, ...field })),
    // A property that is written anyway is named once.
    ...Object.entries(mapping.create ?? {})
      .filter(([name, { property }]) => mapping.fields[name]?.property !== property)
      .map(([name, field]) => ({ at: `create.${name}`, ...field })),
  ]
  for (const { at, property, create } of places) {
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

/** Returns every property that a record of an entity is read with, each once. */
export function propertiesOf(mapping: EntityMapping): string[] {
  return [
    ...new Set([
      ...Object.values(mapping.identity).flat(),
      ...Object.values(mapping.fields).map(({ property }) => property),
    ]),
  ]
}

/** Returns the canonical field of a property, or undefined when the mapping has none. */
export function canonicalOf(mapping: EntityMapping, property: string): string | undefined {
  return Object.entries(mapping.fields).find(([, field]) => field.property === property)?.[0]
}

/** Returns the identity of a record from its values by the CRM's names. Null, "", white space and missing are all blank. */
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

/** Returns the names in a mapping that are no canonical fields of the object, with similar names. */
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
): Omit<MappingProblem, 'optional'> {
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

/** Returns the names of properties similar to a wrong one. Users may know a property by its label, so labels count too. */
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
