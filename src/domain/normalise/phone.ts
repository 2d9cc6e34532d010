import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max'
import { countryCode } from './country.ts'

/**
 * A phone number in E.164, or undefined when it is none. `country` (code or name) is where a number without a country
 * prefix belongs; without it such a number cannot be told and is none.
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

/** What a number in E.164 is by its country's plan; undefined where the plan does not tell, as in the United States. */
export function phoneKind(e164: string): 'mobile' | 'landline' | undefined {
  const type = parsePhoneNumberFromString(e164)?.getType()
  if (type === 'MOBILE') return 'mobile'
  return type === 'FIXED_LINE' ? 'landline' : undefined
}
