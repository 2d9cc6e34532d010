import type { Connector } from '../../connectors/connector.ts'
import { crmOf, type CrmName } from '../../connectors/definitions.ts'
import { fromCrm, toCrm } from '../../domain/mapping/convert.ts'
import { mappingDigest } from '../../domain/mapping/digest.ts'
import type { CrmMapping, EntityMapping } from '../../domain/mapping/mapping.ts'
import { resolveMapping } from '../../domain/mapping/schema.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { kindOf } from '../../domain/values/kinds.ts'
import type { RecordForm } from '../../workers/write/record-form.ts'
import type { Config } from '../config/config.ts'

/**
 * The form in which a CRM's records take and show our values: `Software` may be `COMPUTER_SOFTWARE` there. A value of ours
 * is known again by what it became, not by what was sent.
 */
export function createRecordForms({ connectors }: Pick<Config, 'connectors'>) {
  return async function formOf(connector: Connector, entity: string): Promise<RecordForm> {
    if (!connector.capabilities.keepsValues) return plainForm
    const { mapping } = crmOf(connector.name)
    const changes = connectors[connector.name as CrmName]?.mapping
    return mappedForm(resolveMapping(mapping, changes), connector, entity)
  }
}

/** A source that keeps no values has no mapping: every field has a place in what is written for it. */
const plainForm: RecordForm = {
  has: () => true,
  sharing: (field) => [field],
  mapping: () => 'plain',
  standing: (patch) =>
    Object.fromEntries(
      Object.entries(patch).flatMap(([field, change]) => ('set' in change ? [[field, change.set]] : [])),
    ),
  misfits: () => ({}),
}

const noEntity: EntityMapping = { object: 'company', fields: {}, identity: {} }

async function mappedForm(mapping: CrmMapping, connector: Connector, entity: string): Promise<RecordForm> {
  const { fields, object } = mapping.entities[entity] ?? noEntity
  const described = new Map((await connector.describe(entity)).map((field) => [field.name, field]))
  const digests = new Map(Object.entries(fields).map(([field, mapped]) => [field, mappingDigest(mapped)]))
  const byProperty = Map.groupBy(Object.keys(fields), (field) => fields[field]?.property)
  /** Returns each value that has a property, as the CRM takes it. */
  function converted(patch: Patch) {
    const country = patch['country_code']
    const context = country && 'set' in country ? { country: String(country.set) } : {}
    return Object.entries(patch).flatMap(([field, change]) => {
      const mapped = fields[field]
      const property = mapped && described.get(mapped.property)
      if (!property || !('set' in change)) return []
      const result = toCrm(change.set, property, mapped, { ...context, kind: kindOf(object, field) })
      return [{ field, property, mapped, result }]
    })
  }
  return {
    has: (field) => Object.hasOwn(fields, field),
    sharing(field) {
      const property = Object.hasOwn(fields, field) ? fields[field]?.property : undefined
      return byProperty.get(property) ?? []
    },
    mapping: (field) => digests.get(field) ?? mappingDigest(undefined),
    standing(patch) {
      const standing: Record<string, FieldValue> = {}
      for (const { field, property, mapped, result } of converted(patch)) {
        const value = result.ok ? fromCrm(result.value, property, mapped) : undefined
        if (value !== undefined) standing[field] = value
      }
      return standing
    },
    misfits: (patch) =>
      Object.fromEntries(
        converted(patch).flatMap(({ field, result }) => (result.ok ? [] : [[field, result.code]])),
      ),
  }
}
