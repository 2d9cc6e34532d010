import { indexOfWorldSlug, WORLD_SIZE, worldSlug } from '../data/branches.ts'
import { companyFacts, type CompanyFacts } from '../data/company.ts'
import { foldDomain } from '../data/fold.ts'
import { chance } from './chance.ts'

/** The identifiers that are addresses on other networks, and the share of a country's companies that have one. */
const networks = [
  { key: 'tiktok_url', prefix: 'https://www.tiktok.com/@', country: null, share: 0.3 },
  { key: 'wantedly_url', prefix: 'https://www.wantedly.com/companies/', country: 'JP', share: 0.7 },
  { key: 'tw104_url', prefix: 'https://www.104.com.tw/company/', country: 'TW', share: 0.8 },
  { key: 'rocketpunch_url', prefix: 'https://www.rocketpunch.com/companies/', country: 'KR', share: 0.6 },
  {
    key: 'remember_url',
    prefix: 'https://career.rememberapp.co.kr/job/company/',
    country: 'KR',
    share: 0.5,
  },
  { key: 'youtrust_url', prefix: 'https://youtrust.jp/companies/', country: 'JP', share: 0.5 },
] as const

export const networkKeys = networks.map(({ key }) => key)
export type NetworkKey = (typeof networks)[number]['key']

export const socialMedia = ['facebook', 'instagram', 'tiktok', 'x', 'youtube', 'line'] as const
type SocialMedium = (typeof socialMedia)[number]

export interface WorldCompany extends CompanyFacts {
  index: number
  id: string
  links: Partial<Record<NetworkKey, string>>
  socialMedia: SocialMedium[]
}

let all: WorldCompany[] | undefined

/** Returns every company of the world. It is computed once in a process, and never changes. */
export function worldCompanies(): readonly WorldCompany[] {
  return (all ??= Array.from({ length: WORLD_SIZE }, (_, index) => companyAt(index)))
}

/** Returns the company with this domain; undefined outside the world. */
export function companyOfDomain(domain: string): WorldCompany | undefined {
  const index = domain.endsWith('.example') ? indexOfWorldSlug(domain.slice(0, -'.example'.length)) : null
  return index === null ? undefined : worldCompanies()[index]
}

/** Returns the id of a company in searches. */
export function domainSearchId(domain: string): string {
  return `ds-${domain}`
}

/** Returns the domain of a company's id; null for any other text. */
export function domainOfId(id: string): string | null {
  return id.startsWith('ds-') ? foldDomain(id.slice(3)) : null
}

/** Returns the company whose page on another network the URL is, however it is spelled; undefined for all others. */
export function companyOfLink(key: NetworkKey, url: string): WorldCompany | undefined {
  if (!URL.canParse(url.trim())) return undefined
  const last = new URL(url.trim()).pathname.split('/').findLast(Boolean)?.toLowerCase().replace(/^@/, '')
  const index = last === undefined ? null : indexOfWorldSlug(last)
  const company = index === null ? undefined : worldCompanies()[index]
  return company?.links[key] === undefined ? undefined : company
}

function companyAt(index: number): WorldCompany {
  const facts = companyFacts(worldSlug(index))
  const links: WorldCompany['links'] = {}
  for (const [turn, { key, prefix, country, share }] of networks.entries()) {
    if (country !== null && country !== facts.place.country) continue
    if (chance(index, 101, turn) < share) links[key] = `${prefix}${facts.slug}`
  }
  const media = socialMedia.filter((medium, turn) =>
    medium === 'tiktok' ? links.tiktok_url !== undefined : chance(index, 102, turn) < 0.4,
  )
  return { ...facts, index, id: domainSearchId(facts.domain), links, socialMedia: media }
}
