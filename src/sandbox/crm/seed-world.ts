/** One company as a CRM's users typed it in: its values are untidy on purpose. An absent field is blank. */
export interface SeedCompany {
  readonly name: string
  readonly slug: string
  readonly domain?: string
  readonly website?: string
  readonly phone?: string
  readonly country?: string
  readonly countryCode: string
  readonly city?: string
  readonly industry?: string
  readonly employees?: number
  readonly profileUrl?: string
}

export interface SeedPerson {
  readonly firstName?: string
  readonly lastName: string
  readonly email?: string
  readonly phone?: string
  readonly title?: string
  readonly country?: string
  readonly companyIndex: number
  readonly companyName?: string
  readonly profileUrl?: string
}

export type Random = () => number

/** Returns the same company for the same seed and index, independent of the companies generated before it. */
export function seedCompany(seed: number, index: number): SeedCompany {
  const random = createRandom(seed, 'company', index)
  const duplicateOf = index >= 10 && random() < 0.03 ? index - 1 - Math.floor(random() * 9) : index
  const core = companyCore(seed, duplicateOf)
  return {
    name: dirtyCompanyName(random, core.name),
    slug: core.slug,
    countryCode: core.country.code,
    ...optional('domain', random() < 0.85 ? core.domain : undefined),
    ...optional('website', random() < 0.7 ? dirtyWebsite(random, core.domain) : undefined),
    ...optional('phone', random() < 0.6 ? dirtyPhone(random, core.country.dial) : undefined),
    ...optional('country', random() < 0.7 ? pick(random, core.country.names) : undefined),
    ...optional('city', random() < 0.6 ? pick(random, core.country.cities) : undefined),
    ...optional('industry', random() < 0.3 ? pick(random, INDUSTRIES) : undefined),
    ...optional('employees', random() < 0.2 ? pick(random, [3, 12, 40, 85, 230, 900, 4200]) : undefined),
    ...optional('profileUrl', random() < 0.55 ? dirtyProfileUrl(random, 'company', core.slug) : undefined),
  }
}

export function seedPerson(seed: number, index: number, companies: number): SeedPerson {
  const random = createRandom(seed, 'person', index)
  const firstName = pick(random, FIRST_NAMES)
  const lastName = pick(random, LAST_NAMES)
  const companyIndex = companies === 0 ? index : Math.floor(random() * companies)
  const company = companyCore(seed, companyIndex)
  const slug = `${fold(firstName)}-${fold(lastName)}-${index.toString(36).padStart(3, '0')}`
  return {
    lastName: dirtyCase(random, lastName),
    companyIndex,
    ...optional('firstName', random() < 0.95 ? dirtyCase(random, firstName) : undefined),
    ...optional(
      'email',
      random() < 0.8 ? dirtyEmail(random, firstName, lastName, company.domain, index) : undefined,
    ),
    ...optional('phone', random() < 0.45 ? dirtyPhone(random, company.country.dial) : undefined),
    ...optional('title', random() < 0.5 ? pick(random, TITLES) : undefined),
    ...optional('country', random() < 0.4 ? pick(random, company.country.names) : undefined),
    ...optional('companyName', random() < 0.8 ? dirtyCompanyName(random, company.name) : undefined),
    ...optional('profileUrl', random() < 0.5 ? dirtyProfileUrl(random, 'in', slug) : undefined),
  }
}

/** mulberry32 over a hash of the parts: small, fast, and independent of the engine's own generator. */
export function createRandom(...parts: readonly (string | number)[]): Random {
  let state = hash(parts.join('/'))
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

interface CompanyCore {
  readonly name: string
  readonly slug: string
  readonly domain: string
  readonly country: Country
}

function companyCore(seed: number, index: number): CompanyCore {
  const random = createRandom(seed, 'core', index)
  const stem = pick(random, STEMS) + pick(random, ENDS)
  const sector = pick(random, SECTORS)
  const country = pick(random, COUNTRIES)
  const slug = `${fold(stem)}-${fold(sector)}-${index.toString(36).padStart(3, '0')}`
  return {
    name: `${stem} ${sector} ${pick(random, country.forms)}`,
    slug,
    domain: `${slug}.${pick(random, ['com', 'com', 'io', country.tld])}`,
    country,
  }
}

function dirtyCompanyName(random: Random, name: string): string {
  const roll = random()
  if (roll < 0.05) return ` ${name}  `
  if (roll < 0.1) return name.toUpperCase()
  if (roll < 0.14) return name.replace(' ', '  ')
  if (roll < 0.18) return `${name} (old)`
  if (roll < 0.2) return name.replace(' ', ' & ')
  return name
}

function dirtyWebsite(random: Random, domain: string): string {
  return pick(random, [
    domain,
    `www.${domain}`,
    `https://www.${domain}/`,
    `http://${domain.toUpperCase()}`,
    `https://${domain}/about?utm_source=mail`,
    'n/a',
  ])
}

function dirtyPhone(random: Random, dial: string): string {
  const digits = Array.from({ length: 9 }, () => String(1 + Math.floor(random() * 9))).join('')
  return pick(random, [
    `+${dial}${digits}`,
    `+${dial} ${digits.slice(0, 3)} ${digits.slice(3)}`,
    `00${dial}-${digits}`,
    `(0${digits.slice(0, 2)}) ${digits.slice(2)}`,
    `${digits} ext. 12`,
  ])
}

function dirtyProfileUrl(random: Random, kind: 'company' | 'in', slug: string): string {
  const url = `www.profnet.com/${kind}/${slug}`
  return pick(random, [
    `https://${url}`,
    `https://${url}`,
    `https://${url}/`,
    `http://${url}`,
    `https://${url}?trk=mail`,
    `https://de.profnet.com/${kind}/${slug}`,
    url,
    `HTTPS://WWW.Profnet.com/${kind}/${slug}`,
  ])
}

function dirtyEmail(random: Random, first: string, last: string, domain: string, index: number): string {
  const local = `${fold(first)}.${fold(last)}${index}`
  const roll = random()
  if (roll < 0.1) return `${local}@freemail-post.com`
  if (roll < 0.16) return `info${index}@${domain}`
  return `${local}@${domain}`
}

function dirtyCase(random: Random, name: string): string {
  const roll = random()
  if (roll < 0.06) return name.toLowerCase()
  if (roll < 0.1) return name.toUpperCase()
  if (roll < 0.13) return `${name} `
  return name
}

function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V })
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  // Texts that differ only in the last character must not start neighbouring sequences.
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}

interface Country {
  readonly code: string
  readonly names: readonly string[]
  readonly dial: string
  readonly tld: string
  readonly forms: readonly string[]
  readonly cities: readonly string[]
}

const COUNTRIES: readonly Country[] = [
  {
    code: 'US',
    names: ['United States', 'USA', 'US', 'U.S.'],
    dial: '1',
    tld: 'us',
    forms: ['Inc.', 'LLC', 'Corp'],
    cities: ['Austin', 'Denver', 'new york'],
  },
  {
    code: 'DE',
    names: ['Germany', 'Deutschland', 'DE'],
    dial: '49',
    tld: 'de',
    forms: ['GmbH', 'AG', 'GmbH & Co. KG'],
    cities: ['Berlin', 'München', 'KÖLN'],
  },
  {
    code: 'FR',
    names: ['France', 'FR'],
    dial: '33',
    tld: 'fr',
    forms: ['SAS', 'SARL'],
    cities: ['Paris', 'Lyon'],
  },
  {
    code: 'GB',
    names: ['United Kingdom', 'UK', 'England'],
    dial: '44',
    tld: 'uk',
    forms: ['Ltd', 'PLC'],
    cities: ['London', 'Leeds '],
  },
  {
    code: 'SE',
    names: ['Sweden', 'Sverige'],
    dial: '46',
    tld: 'se',
    forms: ['AB'],
    cities: ['Stockholm', 'Malmö'],
  },
  {
    code: 'BR',
    names: ['Brazil', 'Brasil'],
    dial: '55',
    tld: 'br',
    forms: ['Ltda', 'S.A.'],
    cities: ['São Paulo', 'Recife'],
  },
]
const STEMS = ['Nor', 'Bright', 'Kal', 'Vel', 'Ost', 'Terra', 'Hal', 'Mira', 'Zeph', 'Quill', 'Über', 'Lum']
const ENDS = ['vik', 'forge', 'dera', 'tano', 'sen', 'mark', 'core', 'wen', 'bridge', 'ström']
const SECTORS = [
  'Labs',
  'Logistics',
  'Systems',
  'Foods',
  'Robotics',
  'Health',
  'Energy',
  'Media',
  'Textiles',
  'Software',
]
const INDUSTRIES = [
  'COMPUTER_SOFTWARE',
  'LOGISTICS_AND_SUPPLY_CHAIN',
  'FOOD_PRODUCTION',
  'HOSPITAL_HEALTH_CARE',
  'TEXTILES',
  'ONLINE_MEDIA',
]
const FIRST_NAMES = [
  'Ana',
  'Jürgen',
  'María',
  'Liam',
  'Zoë',
  'Søren',
  'Priya',
  'Chen',
  'Olu',
  'Émile',
  'Katarzyna',
  'Noah',
  'Fatima',
  'Bjørn',
  'Ivy',
]
const LAST_NAMES = [
  'Meyer',
  "O'Neil",
  'García',
  'Nguyen',
  'van Dijk',
  'Müller',
  'Smith-Jones',
  'Okafor',
  'Lindström',
  'Rossi',
  'Kowalska',
  'Brown',
  'Haddad',
  'Groß',
]
const TITLES = [
  'CEO',
  'cto',
  'Head of Sales',
  'VP Marketing',
  'Software Engineer',
  'Einkauf',
  'Ops Manager',
  '-',
]
