import { countryCode } from './country.ts'
import { letters } from './near-names.ts'

/** The parts of an address that are sure. A part that is not is absent. */
export interface AddressParts {
  street?: string
  city?: string
  state?: string
  postal_code?: string
}

export interface AddressHints {
  /** Code or name of the country, from elsewhere in the same answer. */
  country?: string | undefined
  /** The place of the headquarters, which names the city first. */
  headquarters?: string | undefined
}

/**
 * Divides an address in one text into its parts. Addresses are written in too many ways to divide each: a part is
 * returned only where the country's form of postal codes, its list of states or the headquarters confirm it. A wrong
 * city beside a right street would look like good data.
 */
export function parseAddress(text: string, hints: AddressHints = {}): AddressParts {
  if (text.length > longest) return {}
  const lines = text.split(/[\n,;]/).map((part) => part.replace(/\s+/g, ' ').trim())
  const parts = lines.filter((part) => part !== '')
  const country = takeCountry(parts, hints.country)
  if (country === undefined) return {}
  const postalCode = takePostalCode(parts, country)
  const confirmed = hints.headquarters?.split(',')[0]?.trim()
  const at = lastNamed(parts, confirmed)
  const { city, state, street } = at >= 0 ? around(parts, at) : byStates(parts, country, postalCode)
  return {
    ...(street !== undefined && /\d/.test(street) ? { street } : {}),
    ...(city !== undefined ? { city } : {}),
    ...(state !== undefined ? { state } : {}),
    ...(postalCode !== undefined ? { postal_code: postalCode } : {}),
  }
}

/** No address is as long; the expressions below are not for longer texts. */
const longest = 500
const longestName = 60

type Locality = Pick<AddressParts, 'street' | 'city' | 'state'>

/** Returns the country's code and takes its name from the parts. A country that differs from the answer's is no help. */
function takeCountry(parts: string[], known: string | undefined): string | undefined {
  const expected = known === undefined ? undefined : countryCode(known)
  const last = parts.at(-1) ?? ''
  const named = last.length > longestName ? undefined : countryCode(last)
  // CA, DE, IN, GA: two letters may be a state of the United States as well.
  const isSure = named !== undefined && (named === expected || last.length > 2 || !isState(last, 'US'))
  if (isSure && (expected === undefined || named === expected)) parts.pop()
  else if (isSure && !isState(last, expected)) return undefined
  return expected ?? (isSure ? named : undefined)
}

/** Takes the postal code from the last part, where the country has a form of them. */
function takePostalCode(parts: string[], country: string): string | undefined {
  const form = postalForms[country]
  const last = parts.at(-1)
  if (form === undefined || last === undefined) return undefined
  const [, before = '', code, after = ''] = form.exec(last) ?? []
  // Text on both sides: the digits may be something else.
  if (code === undefined || (before !== '' && after !== '')) return undefined
  const rest = before || after
  if (rest === '') parts.pop()
  else parts[parts.length - 1] = rest
  return code.toUpperCase()
}

/** The headquarters confirm the city: the rest has its place. */
function around(parts: readonly string[], at: number): Locality {
  const behind = parts.slice(at + 1)
  const state = behind.length === 1 && isName(behind[0]) ? behind[0] : undefined
  return {
    city: parts[at] as string,
    ...(state === undefined ? {} : { state }),
    ...(at > 0 ? { street: parts.slice(0, at).join(', ') } : {}),
  }
}

function byStates(parts: readonly string[], country: string, postalCode: string | undefined): Locality {
  const last = parts.at(-1)
  const before = parts.at(-2)
  if (!isName(last)) return {}
  if (statesOf[country]) {
    if (!isState(last, country)) return {}
    return isName(before) ? { state: last, city: before, ...streetOf(parts.slice(0, -2)) } : { state: last }
  }
  // Without a list of states only one name can be told: it is the city. After two, either may be a region.
  const isAlone = before === undefined || /\d/.test(before)
  if (!isAlone || postalCode === undefined || / [A-Z]{2}$/.test(last)) return {}
  return { city: last, ...streetOf(parts.slice(0, -1)) }
}

function streetOf(parts: readonly string[]): Pick<Locality, 'street'> {
  return parts.length > 0 ? { street: parts.join(', ') } : {}
}

function isName(part: string | undefined): part is string {
  return (
    part !== undefined &&
    part.length >= 2 &&
    part.length <= longestName &&
    /^[\p{L}\p{M}][\p{L}\p{M} .'’()-]*$/u.test(part)
  )
}

/** Returns where a name stands last among the parts; -1 where it does not. */
function lastNamed(parts: readonly string[], name: string | undefined): number {
  const wanted = letters(name ?? '')
  return wanted === '' ? -1 : parts.findLastIndex((part) => letters(part) === wanted)
}

function isState(text: string | undefined, country: string | undefined): boolean {
  return text !== undefined && stateCode(text, country) !== undefined
}

/** Returns the code of a state given by code or name, in a country whose states are known here. */
export function stateCode(text: string, country: string | undefined): string | undefined {
  const states = country === undefined ? undefined : statesOf[country]
  return text.length > longestName ? undefined : states?.get(letters(text))
}

const statesOf: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  US: states(
    'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|PR Puerto Rico|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming',
  ),
  CA: states(
    'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon',
  ),
  AU: states(
    'ACT Australian Capital Territory|NSW New South Wales|NT Northern Territory|QLD Queensland|SA South Australia|TAS Tasmania|VIC Victoria|WA Western Australia',
  ),
}

/** Returns the code by the letters of code and name. */
function states(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('|').flatMap((line) => {
      const code = line.slice(0, line.indexOf(' '))
      return [code, line.slice(code.length + 1)].map((word): [string, string] => [letters(word), code])
    }),
  )
}

const four = String.raw`\d{4}`
const five = String.raw`\d{5}`
const six = String.raw`\d{6}`

/** The forms of postal codes, in the countries whose form cannot be taken for a house number. */
const postalForms = expressions({
  US: String.raw`\d{5}(?:-\d{4})?`,
  CA: String.raw`[A-Z]\d[A-Z] ?\d[A-Z]\d`,
  GB: String.raw`[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}`,
  IE: String.raw`[A-Z]\d[\dW] ?[A-Z\d]{4}`,
  NL: String.raw`\d{4} ?[A-Z]{2}`,
  SE: String.raw`\d{3} ?\d{2}`,
  PL: String.raw`\d{2}-\d{3}`,
  PT: String.raw`\d{4}-\d{3}`,
  BR: String.raw`\d{5}-?\d{3}`,
  JP: String.raw`\d{3}-\d{4}`,
  ...Object.fromEntries(['AT', 'AU', 'BE', 'CH', 'DK', 'HU', 'NO', 'NZ'].map((code) => [code, four])),
  ...Object.fromEntries(['DE', 'ES', 'FI', 'FR', 'IT', 'KR', 'MX', 'TR'].map((code) => [code, five])),
  ...Object.fromEntries(['CN', 'IN', 'SG'].map((code) => [code, six])),
})

function expressions(forms: Readonly<Record<string, string>>): Readonly<Record<string, RegExp>> {
  return Object.fromEntries(
    Object.entries(forms).map(([code, form]) => [code, new RegExp(`^(?:(.*?) )?(${form})(?: (.*))?$`, 'i')]),
  )
}
