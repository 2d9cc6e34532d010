import type { Company, CompanyActivity } from '../../service/schema/company.ts'
import type { Dice } from '../random.ts'
import { createDice } from '../random.ts'
import { isBranch } from './branches.ts'
import { employerOfSlug, employersAt } from './directory.ts'
import { places, type Place } from './places.ts'
import { isMissing, profileKey, tellNumber, titleOf } from './profile-url.ts'
import { companyNames, companyTypes, industries, posts, sizes, taglines } from './words.ts'

const NETWORK_HOST = 'https://www.profnet.example'
const CDN_HOST = 'https://media.profnet.example'

export interface DataOptions {
  /** Address of the logos, so that the records point to the sandbox's own. */
  logoUrl?: string
}

/**
 * Returns the sandbox's answer for a company's profile URL in any spelling. It is the same for every sandbox.
 *
 * @throws TypeError if the URL names no company
 */
export function companyAnswer(url: string, options: DataOptions = {}): { data: Company | null } {
  const key = profileKey('company', url)
  if (key === null) throw new TypeError('not the URL of a company profile')
  const dice = createDice(`company ${key}`)
  const percentile = dice.roll() * 100
  // A firm of the directory is always known: people work there. So is every other company that a search finds.
  const slug = slugOf(key)
  if (employerOfSlug(slug) === null && !isBranch(slug) && isMissing(key, percentile)) return { data: null }
  return { data: company(key, dice, options.logoUrl ?? 'https://logo.example/logo') }
}

/** The facts of a company by which it can be searched. */
export interface CompanyFacts {
  slug: string
  name: string
  domain: string
  place: Place
  size: (typeof sizes)[number]
  staff: number
  industry: (typeof industries)[number]
}

/** Returns the facts that a lookup of the company states too. Cheap, so that all of the world can be indexed. */
export function companyFacts(slug: string): CompanyFacts {
  const key = `company/${slug}`
  const dice = createDice(`company ${key}`)
  dice.roll()
  return factsOf(key, dice)
}

function factsOf(key: string, dice: Dice): CompanyFacts {
  const slug = slugOf(key)
  const firm = employerOfSlug(slug)
  const place = dice.pick(places)
  const invented = dice.percent(12) ? dice.pick(companyNames) : (titleOf(key) ?? dice.pick(companyNames))
  const name = firm?.name ?? invented
  const domain = firm?.domain ?? `${hostLabel(slug, dice)}.example`
  const size = dice.pick(sizes)
  return {
    slug,
    name,
    domain,
    place,
    size,
    staff: dice.integer(size[0], size[1]),
    industry: dice.pick(industries),
  }
}

function company(key: string, dice: Dice, logoUrl: string): Company {
  const { slug, name, domain, place, size, staff, industry } = factsOf(key, dice)
  // The record that a lookup by the domain answers. Others with the same website do not call it their own.
  const isOwn =
    employerOfSlug(slug) === null ? domain === `${slug}.example` : employersAt(domain)[0]?.slug === slug
  const address = `${place.street}, ${place.local}`
  const description = `${name} works in ${industry.toLowerCase()} from ${place.city}.`
  /** About one in ten of the less certain fields is unknown. */
  const known = <T>(value: T) => (dice.percent(10) ? null : value)

  return {
    title: known(dice.pick(taglines)),
    alumni: null,
    alumni_information: null,
    domain,
    unique_domain: isOwn ? domain : null,
    company_url: known(`https://www.${domain}`),
    company_name: dice.percent(50) ? `${name} ${place.legalForm}` : name,
    profnet_name: slug,
    profnet_uid: numberOf(slug, dice),
    profnet_url: `${NETWORK_HOST}/company/${encodeURIComponent(slug)}`,
    industry: known(industry),
    description: known(description),
    unformatted_description: known(`\n      ${description}\n    `),
    company_size: known(staff),
    company_size_printed: staff.toLocaleString('en-US'),
    unformatted_company_size: size[2],
    company_type: known(dice.pick(companyTypes)),
    founded_year: known(dice.integer(1887, 2025)),
    headquarters: known(place.city),
    company_address: known(address),
    company_addresses: [address],
    unformatted_company_addresses: [`\n  ${place.street}\n  ${place.local}\n`],
    company_address_directions: [
      { directions_url: `https://maps.example/?q=${encodeURIComponent(address)}` },
    ],
    country_code: known(place.country) ?? (isBranch(slug) ? place.country : null),
    country_codes: [...new Set([place.country, ...list(dice, 2, () => dice.pick(places).country)])],
    follower_size: dice.integer(0, 400_000),
    logo_url: `${logoUrl}/${domain}`,
    image_url: known(`${CDN_HOST}/cover/${hostLabel(slug, dice)}.jpg`),
    created_at: moment(dice),
    additional_information: known(`Registered in ${place.country}`),
    people: list(dice, 3, () => {
      const id = personSlug(dice)
      return { name: titleOf(id), logo_url: `${CDN_HOST}/${id}.jpg`, profnet_url: `${NETWORK_HOST}/in/${id}` }
    }),
    affiliated_pages: list(dice, 2, (index) => ({
      title: `${name} ${dice.pick(places).city}`,
      location: dice.pick(places).city,
      subtitle: dice.pick(industries),
      profnet_url: `${NETWORK_HOST}/company/${encodeURIComponent(slug)}-${index + 1}`,
    })),
    similar_companies: list(dice, 3, () => ({
      industry,
      location: dice.pick(places).city,
      company_name: dice.pick(companyNames),
      profnet_url: `${NETWORK_HOST}/company/similar-${dice.integer(100, 999)}`,
    })),
    recent_activities: list(dice, 3, () => activity(dice, name)),
  }
}

function numberOf(slug: string, dice: Dice): string {
  const number = String(dice.integer(1_000_000, 99_999_999))
  tellNumber(number, slug)
  return number
}

function activity(dice: Dice, name: string): CompanyActivity {
  const id = `7${dice.integer(100_000_000, 999_999_999)}`
  const nothing = {
    images: null,
    videos: null,
    repost_id: null,
    repost_url: null,
    repost_date: null,
    repost_text: null,
    repost_title: null,
    tagged_users: null,
    external_links: null,
    repost_hangtags: null,
    repost_followers: null,
    tagged_companies: null,
  }
  return {
    date: moment(dice),
    time: `${dice.integer(1, 11)}mo`,
    text: dice.pick(posts),
    title: name,
    images: list(dice, 2, (index) => `${CDN_HOST}/post/${id}-${index}.jpg`),
    post_id: id,
    post_url: `${NETWORK_HOST}/posts/${id}`,
    likes_count: dice.integer(0, 900),
    comments_count: dice.integer(0, 60),
    tagged_people: dice.percent(80) ? null : [personSlug(dice)],
    tagged_companies: null,
    repost: dice.percent(20)
      ? { ...nothing, repost_id: `6${id}`, repost_text: dice.pick(posts), repost_date: moment(dice) }
      : nothing,
  }
}

function slugOf(key: string) {
  return key.slice(key.indexOf('/') + 1)
}

/** Returns a host label for any slug: its Latin letters and digits, or a number if it has none. */
function hostLabel(slug: string, dice: Dice) {
  const label = slug
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50)
  return label === '' ? `company-${dice.integer(10_000, 99_999)}` : label
}

export function list<T>(dice: Dice, most: number, make: (index: number) => T): T[] {
  return Array.from({ length: dice.integer(0, most) }, (_, index) => make(index))
}

/** Returns a moment of the years before 2026, as an ISO 8601 timestamp. */
export function moment(dice: Dice): string {
  return new Date(Date.UTC(2019, 0, 1) + dice.integer(0, 7 * 365 * 24 * 3600) * 1000).toISOString()
}

const firstNames = ['maria', 'jonas', 'aiko', 'priya', 'tomasz', 'fatima', 'lucas', 'ingrid'] as const
const lastNames = ['santos', 'weber', 'tanaka', 'rao', 'kowalski', 'haddad', 'moreau', 'lindqvist'] as const

export function personSlug(dice: Dice): string {
  return `${dice.pick(firstNames)}-${dice.pick(lastNames)}-${dice.integer(1000, 9999)}`
}
