import { fraction } from '../random.ts'
import { foldName, foldPlace } from './fold.ts'
import { familyNames, firmTrades, firmWords, givenNames } from './names.ts'

// All people who can be found without a profile URL. They are computed from a member's number and back, so that a
// search has nothing to index and every process knows the same people.

const NAMES = givenNames.length * familyNames.length
const FIRMS = firmWords.length * firmTrades.length
/** Number of people with the same name, each at another firm. */
const NAMESAKES = 12

/** The number of people. Any few hundred consecutive members have different names. */
export const DIRECTORY_SIZE = NAMES * NAMESAKES

export interface Employer {
  /** Slug of the company's profile. */
  slug: string
  name: string
  /** Shared by all company records of a firm. */
  domain: string
}

export interface Member {
  index: number
  /** Slug of the person's profile, `/in/<slug>`. */
  slug: string
  firstName: string
  lastName: string
  employer: Employer
  /** True for one in ten: the service knows nothing about them, by profile or otherwise. */
  unknown: boolean
}

export function member(index: number): Member {
  if (!Number.isInteger(index) || index < 0 || index >= DIRECTORY_SIZE) throw new RangeError('no such member')
  const [given, family] = namesOf(index)
  return {
    index,
    slug: `${given[0]}-${family[0]}-${numberOf(index)}`,
    firstName: given[1],
    lastName: family[1],
    employer: employerOf(index),
    unknown: fraction(`member ${index} is unknown`) < 0.1,
  }
}

/** Returns the member whose profile has this slug, known or not; null for every other person. */
export function memberOfSlug(slug: string): Member | null {
  const [, given, family] = /^([a-z]+)-([a-z]+)-\d{4}$/.exec(slug) ?? []
  if (given === undefined || family === undefined) return null
  return membersNamed(given, family).find((each) => each.slug === slug) ?? null
}

/** Returns all members of this name, as people write it or in Latin letters, ignoring case and accents. */
export function membersNamed(firstName: string, lastName: string): Member[] {
  const given = indexOfName(givenNames, firstName)
  const family = indexOfName(familyNames, lastName)
  if (given === -1 || family === -1) return []
  const first = family * givenNames.length + given
  return Array.from({ length: NAMESAKES }, (_, time) => member(first + time * NAMES))
}

/** Returns every company record of the firm at a domain; an empty list when no firm of the directory has the domain. */
export function employersAt(domain: string): Employer[] {
  const firm = firmIndex(/^([a-z]+-[a-z]+)\.example$/.exec(domain)?.[1] ?? '')
  return firm === -1 ? [] : recordsOf(firm)
}

/** Returns the company record with this slug; null for every company outside the directory. */
export function employerOfSlug(slug: string): Employer | null {
  const firm = firmIndex(slug.split('-').slice(0, 2).join('-'))
  return firm === -1 ? null : (recordsOf(firm).find((record) => record.slug === slug) ?? null)
}

/**
 * Returns whether a written company name is this employer: its own name or its firm's, with or without a legal form.
 */
export function isNameOf(written: string, employer: Employer): boolean {
  const asked = foldPlace(written)
  const firm = employersAt(employer.domain)[0]
  return asked !== '' && [employer.name, firm?.name ?? ''].some((name) => foldPlace(name) === asked)
}

function namesOf(index: number) {
  const name = index % NAMES
  const given = givenNames[name % givenNames.length]!
  const family = familyNames[Math.floor(name / givenNames.length)]!
  return [given, family] as const
}

function numberOf(index: number) {
  const first = Math.floor(fraction(`number ${index % NAMES}`) * 9000)
  return 1000 + ((first + Math.floor(index / NAMES) * 739) % 9000)
}

/** Namesakes work at different firms, so that name and firm together identify one person. */
function employerOf(index: number): Employer {
  const first = Math.floor(fraction(`employer ${index % NAMES}`) * FIRMS)
  const records = recordsOf((first + Math.floor(index / NAMES) * 31) % FIRMS)
  return records[Math.floor(fraction(`record ${index}`) * records.length)]!
}

/** One firm in three has a second company record with the same domain. */
function recordsOf(firm: number): Employer[] {
  const words = [firmWords[firm % firmWords.length]!, firmTrades[Math.floor(firm / firmWords.length)]!]
  const domain = `${words.join('-')}.example`
  const all = firm % 3 === 0 ? [words, [...words, 'holding']] : [words]
  return all.map((parts) => ({ slug: parts.join('-'), name: parts.map(capital).join(' '), domain }))
}

function firmIndex(slug: string) {
  const [word = '', trade = ''] = slug.split('-')
  const at = [firmWords.indexOf(word as never), firmTrades.indexOf(trade as never)] as const
  return at.includes(-1) ? -1 : at[1] * firmWords.length + at[0]
}

function indexOfName(names: typeof givenNames, asked: string) {
  const folded = foldName(asked)
  return names.findIndex((name) => name.some((spelling) => foldName(spelling) === folded))
}

function capital(word: string) {
  return word[0]!.toUpperCase() + word.slice(1)
}
