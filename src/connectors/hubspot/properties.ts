import { ConfigError } from '../../domain/errors.ts'
import {
  checkMapping,
  type CreateType,
  type CrmMapping,
  type DescribedField,
  type EntityMapping,
  type FieldType,
} from '../../domain/mapping/mapping.ts'
import { z } from 'zod'
import type { EnsuredField, EnsureOptions } from '../connector.ts'
import { refused, type HubspotApi } from './api/client.ts'
import { paths, propertiesSchema, type HubspotProperty } from './api/wire.ts'

export interface HubspotProperties {
  /** Cached for ten minutes. */
  describe(entity: string): Promise<DescribedField[]>
  /** Forgets the descriptions, because HubSpot reports that they have changed. */
  forget(entity: string): void
  /**
   * Returns the described fields by name. Throws ConfigError when the mapping does not fit them, naming every property
   * that does not fit, with the near names.
   */
  fitting(entity: string): Promise<ReadonlyMap<string, DescribedField>>
  ensure(entity: string, options: EnsureOptions): Promise<EnsuredField[]>
  /** Returns which of our own fields the entity lacks, without the optional ones. */
  missing(entity: string): Promise<string[]>
}

const group = { name: 'paydirt', label: 'Paydirt' }
const keepMs = 10 * 60_000
/** HubSpot's own limit for a text. */
const maxTextLength = 65_536

interface Wanted {
  name: string
  label: string
  type: 'string' | 'number' | 'date' | 'datetime' | 'bool'
  fieldType: string
  options?: readonly { label: string; value: string; displayOrder: number; hidden: boolean }[]
  description: string
  hasUniqueValue?: true
  optional?: true | undefined
}

export function createHubspotProperties(
  api: HubspotApi,
  options: { mapping: CrmMapping; now: () => number },
): HubspotProperties {
  const { mapping, now } = options
  const kept = new Map<string, { atMs: number; fields: Promise<DescribedField[]> }>()

  const describe = (entity: string): Promise<DescribedField[]> => {
    const known = kept.get(entity)
    if (known && known.atMs > now() - keepMs) return known.fields
    const fields = api
      .need(propertiesSchema, { method: 'GET', path: paths.properties(entity) })
      .then(({ results }) => results.filter(({ archived }) => archived !== true).map(toField))
    kept.set(entity, { atMs: now(), fields })
    // A failed call is not cached.
    fields.catch(() => kept.delete(entity))
    return fields
  }

  const ensureGroup = async (entity: string): Promise<void> => {
    const answer = await api.call(z.unknown(), {
      method: 'POST',
      path: paths.groups(entity),
      body: { ...group, displayOrder: -1 },
    })
    // The property exists already, or another process was first.
    if (!answer.ok && answer.status !== 409) throw refused(paths.groups(entity), answer)
  }

  return {
    describe,
    forget: (entity) => void kept.delete(entity),

    async fitting(entity) {
      const described = await describe(entity)
      const problems = checkMapping(entityMapping(mapping, entity), described).filter(
        ({ optional }) => !optional,
      )
      if (problems.length > 0)
        throw new ConfigError(
          'hubspot_mapping',
          `the mapping of ${entity} does not fit the account: ${problems.map(({ message }) => message).join('; ')}`,
        )
      return new Map(described.map((field) => [field.name, field]))
    },

    async missing(entity) {
      const names = new Set((await describe(entity)).map(({ name }) => name))
      return wantedFields(mapping, entity)
        .map(({ name }) => name)
        .filter((name) => !names.has(name))
    },

    async ensure(entity, { dryRun, fields, forCreating = false }) {
      if (!dryRun) kept.delete(entity)
      const byName = new Map((await describe(entity)).map((field) => [field.name, field]))
      const wanted = [...wantedFields(mapping, entity, fields), ...(forCreating ? keyField(mapping) : [])]
      const ensured: EnsuredField[] = []
      let hasGroup = false
      for (const { optional, ...field } of wanted) {
        const { name, label } = field
        const existing = byName.get(name)
        if (existing) {
          ensured.push({ name, label: existing.label, ...checkExisting(existing, field) })
        } else if (dryRun) {
          ensured.push({ name, label, status: 'would_create' })
        } else {
          try {
            if (!hasGroup) await ensureGroup(entity)
            hasGroup = true
            const answer = await api.call(z.unknown(), {
              method: 'POST',
              path: paths.properties(entity),
              body: { ...field, groupName: group.name, formField: false },
            })
            if (!answer.ok && answer.status !== 409) throw refused(paths.properties(entity), answer)
            ensured.push({ name, label, status: answer.ok ? 'created' : 'exists' })
          } catch (error) {
            // The run goes on without an optional property, and buys nothing for it.
            if (!optional || !(error instanceof ConfigError)) throw error
            ensured.push({ name, label, status: 'missing', reason: error.message })
          }
        }
      }
      if (!dryRun) kept.delete(entity)
      return ensured
    },
  }
}

/** Returns the mapping of an entity. Throws ConfigError for an unknown one. */
export function entityMapping(mapping: CrmMapping, entity: string): EntityMapping {
  const found = mapping.entities[entity]
  if (!found)
    throw new ConfigError(
      'unknown_entity',
      `there is no object "${entity}" in HubSpot’s mapping; it may be ${Object.keys(mapping.entities).join(' or ')}`,
    )
  return found
}

export function ownFieldsMissing(entity: string, missing: readonly string[]): ConfigError {
  return new ConfigError(
    'hubspot_own_fields',
    `the ${entity} of the account lack ${missing.join(', ')}: let Paydirt create them, or create them in the property group "${group.label}"`,
  )
}

const textForm = { type: 'string', fieldType: 'text' } as const
const formOf: Record<CreateType, Pick<Wanted, 'type' | 'fieldType' | 'options'>> = {
  text: textForm,
  url: textForm,
  email: textForm,
  number: { type: 'number', fieldType: 'number' },
  date: { type: 'date', fieldType: 'date' },
  datetime: { type: 'datetime', fieldType: 'date' },
  boolean: {
    type: 'bool',
    fieldType: 'booleancheckbox',
    // HubSpot takes only these two values, and refuses a property without them.
    options: [
      { label: 'Yes', value: 'true', displayOrder: 0, hidden: false },
      { label: 'No', value: 'false', displayOrder: 1, hidden: false },
    ],
  },
}

/** Returns the properties of ours: all that are needed, and the optional ones of these canonical fields. */
function wantedFields(mapping: CrmMapping, entity: string, fields: readonly string[] = []): Wanted[] {
  const { own } = mapping
  const entries = Object.entries(entityMapping(mapping, entity).fields)
  const mapped = entries.flatMap(([canonical, { property, create }]) =>
    create && (!create.optional || fields.includes(canonical))
      ? [
          {
            optional: create.optional,
            name: property,
            label: create.label,
            ...formOf[create.type],
            description: 'Filled by Paydirt.',
          },
        ]
      : [],
  )
  return [
    ...mapped,
    {
      name: own.status,
      label: 'Paydirt status',
      type: 'string',
      fieldType: 'text',
      description: 'What Paydirt last did with this record.',
    },
    {
      name: own.enrichedAt,
      label: 'Paydirt enriched at',
      type: 'datetime',
      fieldType: 'date',
      description: 'When Paydirt last wrote to this record.',
    },
    {
      name: own.source,
      label: 'Paydirt source',
      type: 'string',
      fieldType: 'text',
      description: 'Tells Paydirt’s own changes from those of others. Do not edit.',
    },
  ]
}

/** The property by which a record is made only once. HubSpot cannot make the values of an existing property unique. */
function keyField({ key }: CrmMapping): Wanted[] {
  if (key === undefined) return []
  return [
    {
      name: key,
      label: 'Paydirt key',
      type: 'string',
      fieldType: 'text',
      description: 'Keeps Paydirt from making a record twice. Do not edit.',
      hasUniqueValue: true,
    },
  ]
}

function checkExisting(existing: DescribedField, wanted: Wanted): Pick<EnsuredField, 'status' | 'reason'> {
  if (wanted.hasUniqueValue && !existing.unique)
    return { status: 'conflict', reason: 'its values need not be unique, which HubSpot cannot change' }
  if (fitting[wanted.type].includes(existing.type) && existing.writable) return { status: 'exists' }
  return {
    status: 'conflict',
    reason: existing.writable
      ? `it is of type ${existing.type}, and ${wanted.type} is needed`
      : 'it is read-only',
  }
}

const fitting: Record<Wanted['type'], readonly FieldType[]> = {
  string: ['text', 'url', 'phone', 'email'],
  number: ['number'],
  date: ['date'],
  datetime: ['datetime'],
  bool: ['boolean', 'option'],
}

function toField(property: HubspotProperty): DescribedField {
  const type = fieldType(property)
  const options = property.options.filter(({ hidden }) => hidden !== true)
  return {
    name: property.name,
    label: property.label,
    type,
    writable: property.modificationMetadata?.readOnlyValue !== true && property.calculated !== true,
    custom: property.hubspotDefined !== true,
    ...(property.hasUniqueValue ? { unique: true as const } : {}),
    ...(type === 'text' || type === 'phone' ? { maxLength: maxTextLength } : {}),
    ...(type === 'option' || type === 'options'
      ? { options: options.map(({ label, value }) => ({ label, value })), restricted: true }
      : {}),
  }
}

function fieldType({ name, type, fieldType, externalOptions }: HubspotProperty): FieldType {
  switch (type) {
    case 'string':
      if (name === 'email' || name === 'work_email') return 'email'
      return fieldType === 'phonenumber' ? 'phone' : 'text'
    case 'phone_number':
      return 'phone'
    case 'number':
      return 'number'
    case 'bool':
      return 'boolean'
    case 'date':
    case 'datetime':
      return type
    case 'enumeration':
      if (externalOptions) return 'reference'
      return fieldType === 'checkbox' ? 'options' : 'option'
    default:
      return 'other'
  }
}
