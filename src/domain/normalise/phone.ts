import { parsePhoneNumberFromString, type CountryCode, type PhoneNumber } from 'libphonenumber-js/max'
import { countryCode } from './country.ts'

/** No number is longer, extension and words around it included. */
const maxLength = 250

/**
 * Reads a phone number, valid or not. `country` (code or name) is the country of a number without a prefix. Without it, such
 * a number cannot be read.
 */
export function parsePhone(text: string, country?: string): PhoneNumber | undefined {
  if (text.length > maxLength) return undefined
  const region = country === undefined ? undefined : countryCode(country)
  return parsePhoneNumberFromString(text.trim().replace(/^00(?=[1-9])/, '+'), {
    extract: false,
    ...(region ? { defaultCountry: region as CountryCode } : {}),
  })
}

/** Returns a phone number in E.164 without its extension, or undefined when it is none. For keys and identifiers. */
export function phoneE164(text: string, country?: string): string | undefined {
  const parsed = parsePhone(text, country)
  return parsed?.isValid() ? parsed.number : undefined
}

/**
 * Returns a phone number as it is written: in E.164, with its extension (`+4930901820 ext. 12`), because without it somebody
 * else answers. Undefined when it is none. Idempotent.
 */
export function phoneWithExtension(text: string, country?: string): string | undefined {
  const parsed = parsePhone(text, country)
  if (!parsed?.isValid()) return undefined
  return parsed.ext ? `${parsed.number} ext. ${parsed.ext}` : parsed.number
}

/** Returns the kind of a number in E.164 by its country's plan, or undefined where the plan is ambiguous, as in the US. */
export function phoneKind(e164: string): 'mobile' | 'landline' | undefined {
  const type = parsePhone(e164)?.getType()
  if (type === 'MOBILE') return 'mobile'
  return type === 'FIXED_LINE' ? 'landline' : undefined
}
