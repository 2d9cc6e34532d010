import { countryCode, countryName } from '../normalise/country.ts'
import { matchOption, matchOptions, toldOption } from './option.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { phoneWithExtension } from '../normalise/phone.ts'
import { isBlank, type DescribedField, type FieldMapping } from './mapping.ts'
import type { FieldValue } from '../record.ts'
import { mayBeCut, type ValueKind } from '../values/kinds.ts'
import { isoDay, parseIsoTime } from '../values/iso-time.ts'
import { parseNumber } from '../values/number.ts'
import { webAddressFault } from '../values/web-address.ts'

/** A value for the CRM in its JavaScript type. Connectors whose CRM takes only text write it with `String()`. */
export type Converted = { ok: true; value: FieldValue } | { ok: false; code: ConversionCode; reason: string }

export type ConversionCode =
  | 'BLANK'
  | 'NOT_A_NUMBER'
  | 'NOT_A_BOOLEAN'
  | 'NOT_A_DATE'
  | 'NO_SUCH_OPTION'
  | 'NOT_A_PHONE'
  | 'NOT_A_COUNTRY'
  | 'NOT_A_URL'
  | 'NOT_AN_EMAIL'
  | 'TOO_LONG'
  | 'NOT_PLAIN'

export interface ConversionContext {
  /** Code or name of the record's country, for phones written without one and for the marks in numbers. */
  country?: string | undefined
  /** The kind of the value. Absent: a text, which may be cut. */
  kind?: ValueKind | undefined
}

/**
 * Fits one value into a CRM's field: number, picklist, phone in E.164, country as code or name, text of a length. Reasons
 * never contain the value. Idempotent.
 */
export function toCrm(
  value: FieldValue | readonly FieldValue[],
  field: DescribedField,
  mapping: Pick<FieldMapping, 'as' | 'options' | 'allowNew'> = {},
  context: ConversionContext = {},
): Converted {
  const values = (Array.isArray(value) ? value : [value]).filter((one) => !isBlank(one)) as FieldValue[]
  if (values.length === 0) return refuse('BLANK', 'there is no value')
  const joined = values.map((one) => String(one).trim()).join('; ')
  const single = values.length === 1 && typeof values[0] === 'number' ? values[0] : undefined

  if (mapping.as === 'country_code' || mapping.as === 'country_name') return toCountry(joined, field, mapping)
  if (field.type === 'option' || mapping.as === 'option')
    return context.kind === 'flag' ? toYesOrNo(joined, field, mapping) : toOption(joined, field, mapping)
  if (field.type === 'options' || mapping.as === 'options')
    return toOptions(values.map(String), field, mapping)
  if (field.type === 'phone' || mapping.as === 'phone') {
    const phone = phoneWithExtension(joined, context.country)
    return phone ? whole(phone, field) : refuse('NOT_A_PHONE', 'it is not a phone number')
  }
  switch (field.type) {
    case 'number':
    case 'integer':
      return toNumber(single ?? joined, field.type, context.country)
    case 'boolean':
      return toBoolean(joined)
    case 'date':
    case 'datetime':
      return toDate(joined, field.type)
    case 'url':
      return toUrl(joined, field)
    case 'email':
      return toEmail(joined, field)
    case 'reference':
    case 'other':
      return refuse('NOT_PLAIN', 'the field does not hold plain values')
    default:
      if (context.kind === 'flag') return whole(yesOrNo(joined)?.[0] ?? joined, field)
      if (mapping.as === 'number') return toNumber(single ?? joined, 'number', context.country)
      return typeof single === 'number' || !mayBeCut(context.kind ?? 'text')
        ? whole(joined, field)
        : fitted(joined, field)
  }
}

/**
 * Returns a value of the CRM in canonical form, or undefined for a blank, in any of the CRM's forms. A country becomes a code
 * where it is recognised.
 */
export function fromCrm(
  value: unknown,
  field: Pick<DescribedField, 'type'>,
  mapping: Pick<FieldMapping, 'as'> = {},
): FieldValue | undefined {
  if (isBlank(value)) return undefined
  if (mapping.as === 'country_code' || mapping.as === 'country_name')
    return countryCode(String(value)) ?? String(value).trim()
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = String(value).trim()
  if (field.type === 'number' || field.type === 'integer') {
    const number = Number(text)
    return Number.isFinite(number) ? number : text
  }
  if (field.type === 'date' || field.type === 'datetime') {
    // HubSpot's webhooks and older calls have milliseconds, Salesforce a zone without a colon.
    const atMs = /^-?\d{9,15}$/.test(text) ? Number(text) : parseIsoTime(text)
    if (atMs === undefined) return text
    return field.type === 'date' ? isoDay(atMs) : new Date(atMs).toISOString()
  }
  if (field.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/**
 * Cuts a text to a length in UTF-16 units, as CRMs count: at a word's end where one is near, and never inside a character.
 */
export function fitText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  // An ellipsis is one unit long.
  const room = maxLength - 1
  if (room < 1) return wholeCharacters(text.slice(0, maxLength))
  const cut = wholeCharacters(text.slice(0, room))
  const space = cut.search(/\s\S*$/)
  return `${(space > room * 0.7 ? cut.slice(0, space) : cut).trimEnd()}…`
}

function wholeCharacters(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}

type Choices = Pick<FieldMapping, 'as' | 'options' | 'allowNew'>

function toCountry(text: string, field: DescribedField, mapping: Choices): Converted {
  const code = countryCode(text)
  const name = code && countryName(code)
  const words = [text, code, name].filter((word) => word !== undefined)
  const told = words.map((word) => toldOption(word, mapping.options)).find((option) => option !== undefined)
  if (field.options) {
    // The code is safer than the name, which every CRM spells in its own way.
    const candidates = [told, code, name, text].filter((word) => word !== undefined)
    const found = candidates.map((word) => matchOption(word, field)).find((option) => option !== undefined)
    if (found !== undefined) return { ok: true, value: found }
    if (!mayAdd(field, mapping)) return refuse('NO_SUCH_OPTION', 'the country is none of the options')
  }
  const value = told ?? (mapping.as === 'country_code' ? code : name)
  return value ? whole(value, field) : refuse('NOT_A_COUNTRY', 'it is not a known country')
}

function toOption(text: string, field: DescribedField, mapping: Choices): Converted {
  const option = matchOption(text, field, mapping.options)
  if (option !== undefined) return { ok: true, value: option }
  if (mayAdd(field, mapping)) return whole(toldOption(text, mapping.options) ?? text, field)
  return refuse('NO_SUCH_OPTION', `it is none of the options of "${field.name}"`)
}

function toOptions(texts: string[], field: DescribedField, mapping: Choices): Converted {
  const chosen = matchOptions(texts, field, mapping.options)
  if (chosen.length > 0) return { ok: true, value: chosen.join(';') }
  if (mayAdd(field, mapping)) return whole(texts.join(';'), field)
  return refuse('NO_SUCH_OPTION', `it is none of the options of "${field.name}"`)
}

/** A picklist that takes any value keeps each one for ever, as an option that nobody can choose: only on request. */
function mayAdd(field: DescribedField, mapping: Choices): boolean {
  return mapping.allowNew === true && (field.restricted === false || field.options === undefined)
}

function toNumber(
  value: string | number,
  type: 'number' | 'integer',
  country: string | undefined,
): Converted {
  const number = typeof value === 'number' ? value : parseNumber(value, country)
  if (number === undefined || !Number.isFinite(number)) return refuse('NOT_A_NUMBER', 'it is not a number')
  // Adding 0 turns -0, which some CRMs read as text, into 0.
  return { ok: true, value: (type === 'integer' ? Math.round(number) : number) + 0 }
}

function toBoolean(text: string): Converted {
  const words = yesOrNo(text)
  return words
    ? { ok: true, value: words[0] === 'Yes' }
    : refuse('NOT_A_BOOLEAN', 'it is neither true nor false')
}

/** Fits yes or no into a picklist, which can also say that neither is known: a checkbox of Salesforce cannot. */
function toYesOrNo(text: string, field: DescribedField, mapping: Choices): Converted {
  const words = [text, ...(yesOrNo(text) ?? [])]
  const found = words
    .map((word) => matchOption(word, field, mapping.options))
    .find((option) => option !== undefined)
  return found === undefined ? toOption(text, field, mapping) : { ok: true, value: found }
}

function yesOrNo(text: string): readonly ['Yes', 'true'] | readonly ['No', 'false'] | undefined {
  if (/^(true|yes|y|1)$/i.test(text)) return ['Yes', 'true']
  return /^(false|no|n|0)$/i.test(text) ? ['No', 'false'] : undefined
}

function toDate(text: string, type: 'date' | 'datetime'): Converted {
  // Only unambiguous dates: 03/04/2026 can be two days.
  const atMs = parseIsoTime(text)
  if (atMs === undefined) return refuse('NOT_A_DATE', 'it is not an ISO 8601 date')
  return { ok: true, value: type === 'date' ? isoDay(atMs) : new Date(atMs).toISOString() }
}

function toUrl(text: string, field: DescribedField): Converted {
  const fault = webAddressFault(text)
  return fault === undefined ? whole(text, field) : refuse('NOT_A_URL', fault)
}

function toEmail(text: string, field: DescribedField): Converted {
  const email = canonicalEmail(text)
  return email.ok
    ? whole(email.value, field)
    : refuse('NOT_AN_EMAIL', `it is not an e-mail address: ${email.reason}`)
}

/** Texts are cut, because half a sentence is still useful. */
function fitted(text: string, field: DescribedField): Converted {
  const max = field.maxLength
  return { ok: true, value: max === undefined || max === 0 ? text : fitText(text, max) }
}

/** Half a URL, address or country is a wrong one, so these fit or are refused. */
function whole(text: string, field: DescribedField): Converted {
  const max = field.maxLength
  if (max !== undefined && max > 0 && text.length > max)
    return refuse('TOO_LONG', `it has ${text.length} characters, and "${field.name}" takes ${max}`)
  return { ok: true, value: text }
}

function refuse(code: ConversionCode, reason: string): Converted {
  return { ok: false, code, reason }
}
