import type { CrmMapping, DescribedField } from '../../domain/mapping/mapping.ts'
import type { EnsuredField } from '../connector.ts'
import type { DescribedObject } from './api/schema-cache.ts'

interface Wanted {
  name: string
  label: string
  types: readonly DescribedField['type'][]
  /** The least length that a text field must have. */
  length: number
}

/**
 * Returns the state of our own fields and of those that the mapping creates, the optional ones only for `fields`. Custom fields are metadata of the org,
 * with their own rights: the package in `crm/salesforce` creates them, never the data API. A missing field is returned
 * as `missing`, with what to do, also outside a dry run. Without these fields records are still written, but not
 * marked, and our own writes are not recognised.
 */
export function ownFields(
  mapping: CrmMapping,
  entity: string,
  object: DescribedObject,
  fields: readonly string[] = [],
): EnsuredField[] {
  return wanted(mapping, entity, fields).map(({ name, label, types, length }) => {
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
        : field.writable
          ? undefined
          : 'the integration user may not write it'
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

const typesFor: Record<'text' | 'number' | 'url' | 'email', readonly DescribedField['type'][]> = {
  email: ['email', 'text'],
  text: ['text'],
  number: ['number', 'integer'],
  url: ['url', 'text'],
}
