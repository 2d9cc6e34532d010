import { toCrm } from '../../domain/mapping/convert.ts'
import type { DescribedField, EntityMapping } from '../../domain/mapping/mapping.ts'
import type { Patch } from '../../domain/record.ts'
import { kindOf } from '../../domain/values/kinds.ts'
import type { LeftOut, OwnValues, RecordPatch, WriteResult } from '../connector.ts'

/** A patch in HubSpot's terms: every value is a text, and "" clears. Our stamps are added when it is sent. */
export interface Input {
  /** Position among the patches, also the trace id in HubSpot's answer. */
  index: number
  id: string
  properties: Record<string, string>
  /** Present when our stamps are restored to earlier values. */
  own?: OwnValues
  leftOut: LeftOut[]
}

/** Returns what can be sent of a patch, or the result that it already has. */
export function prepare(
  { id, patch, own }: RecordPatch,
  index: number,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
): Input | WriteResult {
  if (!/^\d{1,19}$/.test(id))
    // HubSpot reports success for such an id and writes nothing.
    return { id, status: 'rejected', code: 'INVALID_ID', reason: 'it is not the id of a HubSpot record' }
  const { properties, leftOut } = fitPatch(patch, entityMap, fields)
  if (Object.keys(properties).length > 0) return { index, id, properties, leftOut, ...(own ? { own } : {}) }
  const unfit = leftOut.find(({ code }) => code !== notMapped)
  if (!unfit) return { id, status: 'unchanged' }
  return { id, status: 'rejected', ...unfit, unsent: true }
}

/** Returns a patch's values as the CRM takes them, by property, and the fields that do not fit. */
export function fitPatch(
  patch: Patch,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
): { properties: Record<string, string>; leftOut: LeftOut[] } {
  const properties: Record<string, string> = {}
  const leftOut: LeftOut[] = []
  const context = countryOf(patch)
  for (const [field, change] of Object.entries(patch)) {
    const mapped = entityMap.fields[field]
    const described = mapped && fields.get(mapped.property)
    if (!mapped || !described) {
      leftOut.push({ field, code: notMapped, reason: 'the mapping has no property for it' })
    } else if (!described.writable) {
      leftOut.push({ field, code: 'READ_ONLY', reason: `${mapped.property} cannot be written` })
    } else if ('clear' in change) {
      // HubSpot accepts a null and clears nothing.
      properties[mapped.property] = ''
    } else if ('restore' in change) {
      properties[mapped.property] = String(change.restore)
    } else {
      const kind = kindOf(entityMap.object, field)
      const converted = toCrm(change.set, described, mapped, { ...context, kind })
      if (converted.ok) properties[mapped.property] = String(converted.value)
      else leftOut.push({ field, code: converted.code, reason: converted.reason })
    }
  }
  return { properties, leftOut }
}

const notMapped = 'NOT_MAPPED'

function countryOf(patch: Patch): { country?: string } {
  const change = patch['country_code']
  return change && 'set' in change ? { country: String(change.set) } : {}
}
