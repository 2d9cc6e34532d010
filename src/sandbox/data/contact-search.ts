import { slugOfEmail, slugOfPhone } from './contacts.ts'
import { employersAt, isNameOf, membersNamed } from './directory.ts'
import { foldDomain, foldEmail, foldName, foldPhone, foldPlace } from './fold.ts'
import { personAnswer } from './person.ts'
import { profileKey } from './profile-url.ts'

/** An entry of a contact lookup as received. Blank values count as absent. */
export interface SearchedContact {
  email?: string
  phone?: string
  first_name?: string
  last_name?: string
  domain?: string
  company?: string
}

export interface FoundContact {
  /** Slug of the person's profile. */
  slug: string
  confidence: 'exact' | 'similarity_domain' | 'similarity_company'
  /** The part of the entry that was searched by. */
  input: { value: string; type: 'email' | 'phone' | 'name_domain' | 'name_company' }
}

/** Returns whether the entry has anything to search by (rule 4). */
export function isSearchable(entry: SearchedContact): boolean {
  return entry.email !== undefined || entry.phone !== undefined || isNamed(entry)
}

/**
 * Finds the person of an entry by the service's rules: first by e-mail and phone. By name when the entry has neither
 * (rule 1), or when neither finds a person and `similarity` is on (rule 2).
 */
export function searchContact(entry: SearchedContact, similarity: boolean): FoundContact | null {
  const { email, phone } = entry
  const direct =
    (email === undefined ? null : byEmail(email)) ?? (phone === undefined ? null : byPhone(phone))
  if (direct !== null) return direct
  if ((email !== undefined || phone !== undefined) && !similarity) return null
  return byDomain(entry) ?? byCompany(entry)
}

/**
 * Returns the value by which an entry is searched first. Two entries with the same value are the same input (rule 5).
 */
export function inputKey(entry: SearchedContact): string {
  if (entry.email !== undefined) return `email ${foldEmail(entry.email)}`
  if (entry.phone !== undefined) return `phone ${foldPhone(entry.phone)}`
  const name = `${foldName(entry.first_name ?? '')} ${foldName(entry.last_name ?? '')}`
  const domain = entry.domain === undefined ? null : foldDomain(entry.domain)
  return domain === null ? `name ${name} at ${foldPlace(entry.company ?? '')}` : `name ${name} at ${domain}`
}

function byEmail(email: string): FoundContact | null {
  const value = foldEmail(email)
  const slug = slugOfEmail(value) ?? outsiderOf(value)
  return slug === null ? null : { slug, confidence: 'exact', input: { value, type: 'email' } }
}

function byPhone(phone: string): FoundContact | null {
  const digits = foldPhone(phone)
  const slug = slugOfPhone(digits)
  return slug === null ? null : { slug, confidence: 'exact', input: { value: `+${digits}`, type: 'phone' } }
}

/** Rule 7: matches people at any company record with the domain. */
function byDomain(entry: SearchedContact): FoundContact | null {
  const domain = entry.domain === undefined ? null : foldDomain(entry.domain)
  if (domain === null || !isNamed(entry)) return null
  const records = new Set(employersAt(domain).map(({ slug }) => slug))
  const found = membersOf(entry).find(({ employer }) => records.has(employer.slug))
  const outsider =
    records.size > 0 ? null : outsiderOf(`${latin(entry.first_name)}.${latin(entry.last_name)}@${domain}`)
  const slug = found?.slug ?? outsider
  return slug === null
    ? null
    : {
        slug,
        confidence: 'similarity_domain',
        input: { value: `${nameOf(entry)}, ${domain}`, type: 'name_domain' },
      }
}

function byCompany(entry: SearchedContact): FoundContact | null {
  const { company } = entry
  if (company === undefined || !isNamed(entry)) return null
  const found = membersOf(entry).find(({ employer }) => isNameOf(company, employer))
  if (found === undefined) return null
  const input = { value: `${nameOf(entry)}, ${company}`, type: 'name_company' } as const
  return { slug: found.slug, confidence: 'similarity_company', input }
}

function membersOf({ first_name: first, last_name: last }: SearchedContact) {
  return membersNamed(first ?? '', last ?? '').filter((each) => !each.unknown)
}

/**
 * Returns the slug of a person at a company outside the directory, so that any customer's records find people: the
 * address `first.last@domain` belongs to the person `/in/first-last-domain`. Domains under `.example` have only the
 * people of the directory.
 */
function outsiderOf(email: string): string | null {
  const [local = '', host = ''] = email.split('@')
  if (
    host === '' ||
    host === 'example' ||
    host.endsWith('.example') ||
    !/^[a-z0-9][a-z0-9._+-]*$/.test(local)
  )
    return null
  const slug = `${local}-${host}`.replace(/[^a-z0-9]+/g, '-')
  const url = `https://www.profnet.example/in/${slug}`
  return profileKey('person', url) !== null && personAnswer(url).data !== null ? slug : null
}

function isNamed({ first_name: first, last_name: last, domain, company }: SearchedContact) {
  const hasDomain = domain !== undefined && foldDomain(domain) !== null
  return first !== undefined && last !== undefined && (hasDomain || company !== undefined)
}

function nameOf({ first_name: first = '', last_name: last = '' }: SearchedContact) {
  return `${foldName(first)} ${foldName(last)}`
}

function latin(name: string | undefined) {
  return foldName(name ?? '').replaceAll(' ', '-')
}
