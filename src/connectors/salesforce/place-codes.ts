import type { EntityMapping, FieldMapping } from '../../domain/mapping/mapping.ts'
import type { DescribedObject, SalesforceField } from './api/schema-cache.ts'

/**
 * Returns the mapping with the codes of countries and states in place of their texts, where the org has the state and
 * country picklists (`BillingCountryCode` beside `BillingCountry`). The text then takes only the org's own word for a
 * place, which an admin may change; the code is always the ISO code, and the org keeps the text in step.
 */
export function withPlaceCodes(mapping: EntityMapping, object: DescribedObject): EntityMapping {
  const fields: Record<string, FieldMapping> = {}
  for (const [canonical, wanted] of Object.entries(mapping.fields)) {
    const code = object.fields.get(`${wanted.property}Code`)
    const isPlace = /(?:Country|State)$/.test(wanted.property) && code?.type === 'option'
    fields[canonical] = isPlace ? { ...wanted, property: code.name } : wanted
  }
  return { ...mapping, fields }
}

/**
 * Returns the org's fields with countries and states as what they take: the options of their codes. A value is then
 * known again by its code, and only places that the org has count as writable.
 */
export function describedWithPlaces({ fields }: DescribedObject): SalesforceField[] {
  return [...fields.values()].map((field) => {
    const code = fields.get(`${field.name}Code`)
    const isPlace = /(?:Country|State)$/.test(field.name) && code?.type === 'option'
    return isPlace ? { ...code, name: field.name, label: field.label } : field
  })
}
