import { countryCode } from '../normalise/country.ts'
import { canonicalProfileUrl } from '../keys.ts'
import { letters } from '../normalise/near-names.ts'
import { canonicalUrl, registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { normalForm } from '../normalise/normal-form.ts'
import { parsePhone } from '../normalise/phone.ts'
import type { FieldValue } from '../record.ts'
import { isoDay, parseIsoTime } from '../values/iso-time.ts'
import { parseNumber } from '../values/number.ts'

type Form =
  | 'email'
  | 'phone'
  | 'domain'
  | 'url'
  | 'profile'
  | 'country'
  | 'number'
  | 'option'
  | 'date'
  | 'datetime'
  | 'flag'
  | 'text'

/** The form in which the values of a canonical field are compared. Every other field is compared as text. */
const forms: Readonly<Record<string, Form>> = {
  email: 'email',
  email_personal: 'email',
  phone: 'phone',
  mobile_phone: 'phone',
  domain: 'domain',
  website: 'url',
  logo: 'url',
  profnet_url: 'profile',
  company_profnet_url: 'profile',
  country_code: 'country',
  employees: 'number',
  founded_year: 'number',
  followers: 'number',
  connections: 'number',
  industry: 'option',
  company_type: 'option',
  expansion_stage: 'option',
  expansion_direction: 'option',
  open_jobs: 'number',
  open_jobs_change_30d: 'number',
  last_news_at: 'date',
  left_company_at: 'date',
  advertising: 'flag',
  signal_score: 'number',
  signal_score_change_7d: 'number',
  signals_checked_at: 'datetime',
}

/**
 * Returns whether two values of a canonical field mean the same, so that writing one over the other would only change its
 * form. `country` (code or name) is the country of phones without a prefix.
 */
export function sameValue(field: string, a: FieldValue, b: FieldValue, country?: string): boolean {
  if (a === b) return true
  const form = Object.hasOwn(forms, field) ? (forms[field] as Form) : 'text'
  const [one, other] = [comparable(form, a, country), comparable(form, b, country)]
  return one === other || (form === 'text' && (isCutOf(one, other) || isCutOf(other, one)))
}

/** Returns the comparable form of a value. A value that does not parse (a phone that reads "ask Bob") is compared as text. */
function comparable(form: Form, value: FieldValue, country: string | undefined): string {
  const text = plain(value)
  switch (form) {
    case 'email': {
      const email = canonicalEmail(text)
      return email.ok ? email.value : text.toLowerCase()
    }
    case 'phone':
      return phone(text, country) ?? text
    case 'domain': {
      const domain = registrableDomain(text)
      return domain.ok ? domain.value : text.toLowerCase()
    }
    case 'url':
      return canonicalUrl(text) ?? text
    case 'profile': {
      const person = canonicalProfileUrl('person', text)
      const profile = person.ok ? person : canonicalProfileUrl('company', text)
      return profile.ok ? profile.value : (canonicalUrl(text) ?? text)
    }
    case 'country':
      return countryCode(text) ?? text.toLowerCase()
    case 'number':
      return number(value, country) ?? text
    case 'date': {
      const atMs = parseIsoTime(text)
      return atMs === undefined ? text : isoDay(atMs)
    }
    case 'datetime': {
      // Salesforce keeps whole seconds.
      const atMs = parseIsoTime(text)
      return atMs === undefined ? text : String(Math.floor(atMs / 1_000))
    }
    case 'flag':
      return /^(?:true|yes)$/i.test(text) ? 'yes' : /^(?:false|no)$/i.test(text) ? 'no' : text
    case 'option':
      // A picklist writes HOSPITAL_HEALTH_CARE for "Hospital & Health Care".
      return letters(text.replace(/&|\band\b/gi, ' ').replaceAll(/_and_/gi, '_')) || text
    default:
      return text
  }
}

function plain(value: FieldValue): string {
  return normalForm('NFC', String(value)).replace(/\s+/gu, ' ').trim()
}

/** Numbers with different extensions are different lines. */
function phone(text: string, country: string | undefined): string | undefined {
  const parsed = parsePhone(text, country)
  if (parsed) return parsed.ext ? `${parsed.number};ext=${parsed.ext}` : parsed.number
  return /^[\d\s()./+-]+$/.test(text) ? text.replace(/\D/g, '') : undefined
}

function number(value: FieldValue, country: string | undefined): string | undefined {
  const parsed = typeof value === 'number' ? value + 0 : parseNumber(String(value), country)
  return parsed === undefined ? undefined : String(parsed)
}

/** A CRM's field has a maximum length: a text that a connector had to cut still means the same. */
function isCutOf(cut: string, whole: string): boolean {
  return cut.length > 1 && cut.endsWith('…') && whole.startsWith(cut.slice(0, -1).trimEnd())
}
