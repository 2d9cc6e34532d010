import type { EntityMapping, FieldMapping } from '../../domain/mapping/mapping.ts'
import type { DescribedObject } from './api/schema-cache.ts'

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
