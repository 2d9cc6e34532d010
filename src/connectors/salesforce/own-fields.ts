import type { CreateType, CrmMapping, DescribedField } from '../../domain/mapping/mapping.ts'
import type { EnsuredField, EnsureOptions } from '../connector.ts'
import type { DescribedObject } from './api/schema-cache.ts'

interface Wanted {
  name: string
  label: string
  types: readonly DescribedField['type'][]
  /** The least length that a text field must have. */
  length: number
  unique?: true
}

/** The number of characters of the key by which a record is made once. */
const keyLength = 32

function keyField(name: string): Wanted {
  return { name, label: 'Paydirt Key', types: ['text'], length: keyLength, unique: true }
}

/**
 * Returns the state of our own fields and of those that the mapping creates, the optional ones only for `fields`. Custom fields are metadata of the org,
 * with their own rights: the package in `crm/salesforce` creates them, never the data API. A missing field is returned
 * as `missing`, with what to do, also outside a dry run. The key is wanted only where records are to be made. Without these fields records are still written, but not
 * marked, and our own writes are not recognised.
 */
export function ownFields(
  mapping: CrmMapping,
  entity: string,
  object: DescribedObject,
  { fields = [], forCreating = false }: Pick<EnsureOptions, 'fields' | 'forCreating'> = {},
): EnsuredField[] {
  const keys = forCreating && mapping.key !== undefined ? [keyField(mapping.key)] : []
  return [...wanted(mapping, entity, fields), ...keys].map(({ name, label, types, length, unique }) => {
    const field = object.fields.get(name)
    if (!field) {
      return {
        name,
        label,
        status: 'missing',
        reason: `deploy the package in crm/salesforce and give the integration user its permission set; it has ${entity}.${name}`,
      }
    }
    const fault = !types.includes(field.type)
      ? `it is of type ${field.type}, not ${types.join(' or ')}`
      : field.maxLength !== undefined && field.maxLength < length
        ? `it takes ${field.maxLength} characters, and ${length} are needed`
        : !field.writable
          ? 'the integration user may not write it'
          : unique && !field.unique
            ? 'it is not unique, so that a record could be made twice'
            : undefined
    return {
      name,
      label: field.label,
      ...(fault ? { status: 'conflict', reason: fault } : { status: 'exists' }),
    }
  })
}

function wanted({ own, entities }: CrmMapping, entity: string, fields: readonly string[]): Wanted[] {
  const mapped = Object.entries(entities[entity]?.fields ?? {})
  const created = mapped.flatMap(([canonical, { property, create }]): Wanted[] =>
    create && (!create.optional || fields.includes(canonical))
      ? [{ name: property, label: create.label, types: typesFor[create.type], length: 1 }]
      : [],
  )
  return [
    { name: own.status, label: 'Paydirt Status', types: ['text', 'option'], length: 'enriched'.length },
    { name: own.enrichedAt, label: 'Paydirt Enriched At', types: ['datetime'], length: 0 },
    { name: own.source, label: 'Paydirt Source', types: ['text'], length: 40 },
    ...created,
  ]
}

const typesFor: Record<CreateType, readonly DescribedField['type'][]> = {
  // A checkbox is never blank: it would say no where nothing was observed.
  boolean: ['option'],
  date: ['date'],
  datetime: ['datetime'],
  email: ['email', 'text'],
  text: ['text'],
  number: ['number', 'integer'],
  url: ['url', 'text'],
}
