import { countryCode } from '../normalise/country.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { phoneE164 } from '../normalise/phone.ts'
import type { FieldValue } from '../record.ts'

interface Kind {
  /** Short values of the kind: what does not fit one of them fits none. */
  samples: readonly FieldValue[]
  /** Returns whether a text could be such a value. */
  is: (text: string) => boolean
}

const text: Kind = { samples: ['Acme Co'], is: () => true }
const number: Kind = { samples: [2, 1998], is: (value) => /^\d+$/.test(value) }
const url: Kind = { samples: ['https://a.co'], is: (value) => /^(https?:\/\/)?[^\s/]+\.[^\s/]+/i.test(value) }
const country: Kind = { samples: ['CU', 'Cuba'], is: (value) => countryCode(value) !== undefined }
const email: Kind = { samples: ['a@b.co'], is: (value) => canonicalEmail(value).ok }
const phone: Kind = { samples: ['+3225111111'], is: (value) => phoneE164(value) !== undefined }

const kinds: Readonly<Record<string, Kind>> = {
  email,
  email_personal: email,
  phone,
  mobile_phone: phone,
  profnet_url: url,
  company_profnet_url: url,
  domain: url,
  company_domain: url,
  website: url,
  company_website: url,
  logo: url,
  company_logo: url,
  country_code: country,
  company_country_code: country,
  employees: number,
  company_employees: number,
  founded_year: number,
  followers: number,
  connections: number,
  open_jobs: number,
  news_items: number,
  advertisements: number,
}

/**
 * Returns values that a canonical field may have, to try a property with. For a property that takes only some texts, those of
 * them that are values of the field's kind.
 */
export function samplesOf(field: string, only?: readonly string[]): readonly FieldValue[] {
  const { samples, is } = Object.hasOwn(kinds, field) ? (kinds[field] as Kind) : text
  return only ? only.filter(is) : samples
}
