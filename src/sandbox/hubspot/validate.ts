import type { InvalidValue } from './errors.ts'
import type { HubspotProperty } from './properties.ts'

export interface ValidatedPatch {
  /** The values to store. An empty string clears. */
  readonly values: ReadonlyMap<string, string>
  readonly invalid: readonly InvalidValue[]
}

/** Checks the properties of one record as the CRM does: each value a string, each name known and writable. */
export function validateProperties(
  given: Readonly<Record<string, string | null>>,
  properties: ReadonlyMap<string, HubspotProperty>,
  switches: { readonly nullValues: 'ignored' | 'refused'; readonly acceptedTlds: ReadonlySet<string> },
): ValidatedPatch {
  const values = new Map<string, string>()
  const invalid: InvalidValue[] = []
  for (const [name, value] of Object.entries(given)) {
    const property = properties.get(name)
    if (!property) {
      invalid.push({
        code: 'PROPERTY_DOESNT_EXIST',
        property: name,
        message: `Property "${name}" does not exist`,
      })
      continue
    }
    if (property.modificationMetadata.readOnlyValue) {
      invalid.push({
        code: 'READ_ONLY_VALUE',
        property: name,
        message: `"${name}" is a read only property; its value cannot be set.`,
      })
      continue
    }
    if (value === null) {
      if (switches.nullValues === 'refused')
        invalid.push({
          code: 'INVALID_VALUE',
          property: name,
          message: `null is not a valid value for "${name}"`,
        })
      continue
    }
    const refusal = value === '' ? undefined : refuse(property, value, switches.acceptedTlds)
    if (refusal) invalid.push({ ...refusal, property: name })
    else values.set(name, normalise(property, value))
  }
  return { values, invalid }
}

function refuse(
  property: HubspotProperty,
  value: string,
  acceptedTlds: ReadonlySet<string>,
): Omit<InvalidValue, 'property'> | undefined {
  if (value.length > 65_536)
    return { code: 'PROPERTY_VALUE_TOO_LONG', message: 'Property value is longer than 65536 characters' }
  switch (property.type) {
    case 'number':
      if (value.trim() === value && /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return undefined
      return { code: 'INVALID_INTEGER', message: `${value} was not a valid number.` }
    case 'date':
    case 'datetime':
      return refuseDate(property.type, value)
    case 'bool':
    case 'enumeration':
      return refuseOption(property, value)
    default:
      if (EMAIL_PROPERTIES.has(property.name) && !isEmail(value, acceptedTlds))
        return { code: 'INVALID_EMAIL', message: `Email address ${value} is invalid` }
      return undefined
  }
}

function refuseOption(property: HubspotProperty, value: string): Omit<InvalidValue, 'property'> | undefined {
  if (property.externalOptions) return undefined
  const chosen = property.fieldType === 'checkbox' ? value.split(';').filter(Boolean) : [value]
  const allowed = new Set(property.options.map((option) => option.value))
  const wrong = chosen.find((option) => !allowed.has(option))
  if (wrong === undefined) return undefined
  return {
    code: 'INVALID_OPTION',
    message: `${wrong} was not one of the allowed options: [${[...allowed].join(', ')}]`,
  }
}

/**
 * A date is a day as text, or midnight UTC in milliseconds ("How should timestamps be formatted for HubSpot's APIs"); the words
 * of the refusal are those that users report. A datetime without a zone is refused.
 */
function refuseDate(type: 'date' | 'datetime', value: string): Omit<InvalidValue, 'property'> | undefined {
  const refusal = (message: string) => ({ code: 'INVALID_DATE', message })
  if (/^-?\d{1,15}$/.test(value)) {
    const at = new Date(Number(value))
    if (type === 'datetime' || at.getTime() % 86_400_000 === 0) return undefined
    const time = `${at.getUTCHours()}:${at.getUTCMinutes()}:${at.getUTCSeconds()}.${at.getUTCMilliseconds()}`
    return refusal(`${value} is at ${time} UTC, not midnight!`)
  }
  const form =
    type === 'date'
      ? /^\d{4}-\d{2}-\d{2}$/
      : /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/
  const day = value.slice(0, 10)
  const isDay =
    form.test(value) && !Number.isNaN(Date.parse(value)) && new Date(day).toISOString().startsWith(day)
  return isDay ? undefined : refusal(`${value} was not a valid date.`)
}

function isEmail(value: string, acceptedTlds: ReadonlySet<string>): boolean {
  const match = /^[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+([A-Za-z]{2,24})$/.exec(
    value,
  )
  const tld = match?.[1]?.toLowerCase()
  return tld !== undefined && (!BAD_TLDS.has(tld) || acceptedTlds.has(tld))
}

/** The CRM stores e-mail addresses in lower case, domains without a prefix, and times as ISO 8601. */
function normalise(property: HubspotProperty, value: string): string {
  if (value === '') return value
  if (EMAIL_PROPERTIES.has(property.name)) return value.toLowerCase()
  if (property.name === 'domain')
    return value
      .replace(/^https?:\/\//i, '')
      .replace(/^www\./i, '')
      .replace(/\/.*$/, '')
      .toLowerCase()
  if (property.type === 'datetime')
    return new Date(/^-?\d+$/.test(value) ? Number(value) : value).toISOString()
  if (property.type === 'date' && /^-?\d+$/.test(value))
    return new Date(Number(value)).toISOString().slice(0, 10)
  return value
}

const EMAIL_PROPERTIES: ReadonlySet<string> = new Set(['email', 'work_email'])

/** Names that can never be top-level domains, and the two misspellings that are common in real CRMs. */
const BAD_TLDS: ReadonlySet<string> = new Set([
  'con',
  'cmo',
  'example',
  'internal',
  'invalid',
  'lan',
  'local',
  'localhost',
  'test',
])
