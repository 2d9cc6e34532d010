import {
  companyEndings,
  companyStems,
  countries,
  firstNames,
  industries,
  jobTitles,
  lastNames,
  sectors,
  type Country,
} from './seed-words.ts'

/** One company as a CRM's users typed it in: its values are untidy on purpose. An absent field is blank. */
export interface SeedCompany {
  readonly name: string
  readonly slug: string
  readonly domain?: string | undefined
  readonly website?: string | undefined
  readonly phone?: string | undefined
  readonly country?: string | undefined
  readonly countryCode: string
  readonly city?: string | undefined
  readonly industry?: string | undefined
  readonly employees?: number | undefined
  readonly profileUrl?: string | undefined
}

export interface SeedPerson {
  readonly firstName?: string | undefined
  readonly lastName: string
  readonly email?: string | undefined
  readonly phone?: string | undefined
  readonly title?: string | undefined
  readonly country?: string | undefined
  readonly companyIndex: number
  readonly companyName?: string | undefined
  readonly profileUrl?: string | undefined
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
    domain: random() < 0.85 ? core.domain : undefined,
    website: random() < 0.7 ? dirtyWebsite(random, core.domain) : undefined,
    phone: random() < 0.6 ? dirtyPhone(random, core.country.dial) : undefined,
    country: random() < 0.7 ? pick(random, core.country.names) : undefined,
    city: random() < 0.6 ? pick(random, core.country.cities) : undefined,
    industry: random() < 0.3 ? pick(random, industries) : undefined,
    employees: random() < 0.2 ? pick(random, [3, 12, 40, 85, 230, 900, 4200]) : undefined,
    profileUrl: random() < 0.55 ? dirtyProfileUrl(random, 'company', core.slug) : undefined,
  }
}

export function seedPerson(seed: number, index: number, companies: number): SeedPerson {
  const random = createRandom(seed, 'person', index)
  const firstName = pick(random, firstNames)
  const lastName = pick(random, lastNames)
  const companyIndex = companies === 0 ? index : Math.floor(random() * companies)
  const company = companyCore(seed, companyIndex)
  const slug = `${fold(firstName)}-${fold(lastName)}-${index.toString(36).padStart(3, '0')}`
  return {
    lastName: dirtyCase(random, lastName),
    companyIndex,
    firstName: random() < 0.95 ? dirtyCase(random, firstName) : undefined,
    email: random() < 0.8 ? dirtyEmail(random, firstName, lastName, company.domain, index) : undefined,
    phone: random() < 0.45 ? dirtyPhone(random, company.country.dial) : undefined,
    title: random() < 0.5 ? pick(random, jobTitles) : undefined,
    country: random() < 0.4 ? pick(random, company.country.names) : undefined,
    companyName: random() < 0.8 ? dirtyCompanyName(random, company.name) : undefined,
    profileUrl: random() < 0.5 ? dirtyProfileUrl(random, 'in', slug) : undefined,
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
  const stem = pick(random, companyStems) + pick(random, companyEndings)
  const sector = pick(random, sectors)
  const country = pick(random, countries)
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
