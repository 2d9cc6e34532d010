import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max'
import { countryCode } from './country.ts'

/**
 * Returns a phone number in E.164, or undefined when it is none. `country` (code or name) is the country of a number without
 * a prefix. Without it, such a number cannot be read.
 */
export function phoneE164(text: string, country?: string): string | undefined {
  const region = country === undefined ? undefined : countryCode(country)
  const cleaned = text.trim().replace(/^00(?=[1-9])/, '+')
  const parsed = parsePhoneNumberFromString(
    cleaned,
    region ? { defaultCountry: region as CountryCode, extract: false } : { extract: false },
  )
  return parsed?.isValid() ? parsed.number : undefined
}

/** Returns the kind of a number in E.164 by its country's plan, or undefined where the plan is ambiguous, as in the US. */
export function phoneKind(e164: string): 'mobile' | 'landline' | undefined {
  const type = parsePhoneNumberFromString(e164)?.getType()
  if (type === 'MOBILE') return 'mobile'
  return type === 'FIXED_LINE' ? 'landline' : undefined
}
