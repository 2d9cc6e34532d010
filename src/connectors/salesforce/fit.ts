import { toCrm } from '../../domain/mapping/convert.ts'
import { isBlank, type CrmMapping, type EntityMapping } from '../../domain/mapping/mapping.ts'
import { countryCode } from '../../domain/normalise/country.ts'
import { writeStamp } from '../../domain/mapping/stamp.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { kindOf } from '../../domain/values/kinds.ts'
import type { LeftOut, OwnValues } from '../connector.ts'
import type { Body } from './api/collections.ts'
import type { DescribedObject, SalesforceField } from './api/schema-cache.ts'

export interface Fitted {
  /** Without our own fields; empty when no field of the patch fits. */
  body: Body
  leftOut: LeftOut[]
}

/** Fits a patch to the org's description of its fields. Pure. `standing` is the country that the record has now. */
export function fitPatch(
  patch: Patch,
  mapping: EntityMapping,
  object: DescribedObject,
  standing?: string,
): Fitted {
  const body: Body = {}
  const leftOut: LeftOut[] = []
  const country = patch['country_code']
  const context: { country?: string } =
    country && 'set' in country && typeof country.set === 'string'
      ? { country: country.set }
      : standing === undefined
        ? {}
        : { country: standing }
  for (const [canonical, change] of Object.entries(patch)) {
    const wanted = mapping.fields[canonical]
    // A field without a mapping has no place in this CRM, and is never written.
    if (!wanted) continue
    const leave = (code: string, reason: string) => leftOut.push({ field: canonical, code, reason })
    const field = object.fields.get(wanted.property)
    if (!field) {
      leave('NO_SUCH_FIELD', `${object.name} has no field ${wanted.property} that the user may see`)
    } else if (!field.writable) {
      leave('READ_ONLY', `${field.name} cannot be written`)
    } else if ('clear' in change) {
      if (field.nillable) body[field.name] = null
      else leave('REQUIRED', `${field.name} cannot be blank`)
    } else if ('restore' in change && !isPlaceName(change.restore, field)) {
      body[field.name] = change.restore
    } else {
      const value = 'restore' in change ? change.restore : change.set
      const chosen = dependent(field, countryCode(context.country ?? ''))
      const kind = kindOf(mapping.object, canonical)
      const converted = toCrm(value, chosen, wanted, { ...context, kind })
      if (!converted.ok) leave(converted.code, `${field.name}: ${converted.reason}`)
      else if (isBlank(converted.value)) leave('BLANK', `${field.name}: there is no value`)
      else if (isTooLarge(converted.value, field))
        leave('TOO_LARGE', `${field.name}: the number is too large`)
      else body[field.name] = converted.value
    }
  }
  return { body, leftOut }
}

/**
 * Returns our own fields for a write: they show it, and a later scan recognises it by them. With `before` they get
 * their earlier values back. Fields that the org lacks are left out. `nameInScan` is the name under which a scan reads a
 * property, where that is another.
 */
export function stampOf(
  body: Body,
  { entities, own }: CrmMapping,
  entity: string,
  object: DescribedObject,
  nowMs: number,
  before?: OwnValues,
  nameInScan: (property: string) => string = (property) => property,
): Body {
  const mapped = Object.values(entities[entity]?.fields ?? {}).map(({ property }) => nameInScan(property))
  const written = Object.fromEntries(Object.entries(body).map(([name, value]) => [nameInScan(name), value]))
  const values: OwnValues = before ?? {
    status: 'enriched',
    enrichedAt: new Date(nowMs).toISOString(),
    source: writeStamp(mapped, written),
  }
  const stamp: Body = {
    [own.status]: values.status ?? null,
    [own.enrichedAt]: values.enrichedAt ?? null,
    [own.source]: values.source ?? null,
  }
  return Object.fromEntries(Object.entries(stamp).filter(([name]) => object.fields.get(name)?.writable))
}

/** Returns the field with the options that the country allows: a state of another country is refused by the org. */
function dependent(field: SalesforceField, country: string | undefined): SalesforceField {
  if (!field.dependsOn || !/(?:^|[a-z])CountryCode$/.test(field.dependsOn.field)) return field
  const options = country === undefined ? [] : field.dependsOn.optionsFor(country)
  return { ...field, options: options ?? [] }
}

/** A country kept as its name, from before the org had the country picklist: it is restored as the code. */
function isPlaceName(value: FieldValue, field: SalesforceField): boolean {
  return (
    /(?:Country|State)Code$/.test(field.name) &&
    field.options !== undefined &&
    !field.options.some((option) => option.value === value)
  )
}

function isTooLarge(value: FieldValue, field: SalesforceField): boolean {
  if (typeof value !== 'number') return false
  if (field.wholeDigits > 0 && Math.abs(value) >= 10 ** field.wholeDigits) return true
  return field.type === 'integer' && !Number.isSafeInteger(value)
}
