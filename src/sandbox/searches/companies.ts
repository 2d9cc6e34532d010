import { exactly, entriesOf } from '../data/match-words.ts'
import { companyUrl } from '../data/company-by-domain.ts'
import { industries, sizes } from '../data/words.ts'
import { companyOf } from '../http/company-lookup.ts'
import { companyIdentifiers, readReference } from '../http/company-reference.ts'
import { isRefused, missing } from '../http/request-body.ts'
import { runsOn } from '../world/advertisements.ts'
import { chance } from '../world/chance.ts'
import { companyOfDomain, socialMedia, worldCompanies, type WorldCompany } from '../world/companies.ts'
import { placeTest } from '../world/markets.ts'
import type { World, WorldDay } from '../world/world.ts'
import { companyFilters, namedCompanies } from './narrow.ts'
import { searchEndpoint } from './search-endpoint.ts'

const filters = {
  countries: 'texts',
  company_exclude_locations: 'texts',
  industries: 'texts',
  sizes: 'texts',
  social_media: 'words',
  advertisement_status: 'words',
} as const

const advertisementStatuses = ['active', 'inactive', 'never'] as const
const sizeNames = sizes.map(([, , name]) => name)

/** `POST /companies/search`. */
export const companySearch = (world: World) =>
  searchEndpoint(
    {
      name: 'companies_search',
      price: 'companySearch',
      rows: 'companies',
      filters: { ...companyFilters, ...filters },
      find: (given, { today }) => ({ rows: search(given, today()) }),
      show: (company, _, { today }) => companyRow(company, today()),
    },
    world,
  )

/** Rows below this are not similar at all. */
const LEAST_SIMILAR = 0.5

/** `POST /companies/search/similar`: the reference says what similar means, all else narrows the result. */
export const companySimilar = (world: World) =>
  searchEndpoint(
    {
      name: 'companies_similar',
      price: 'companySimilar',
      rows: 'companies',
      filters: {
        ...companyFilters,
        ...filters,
        ...Object.fromEntries(companyIdentifiers.map((name) => [name, 'text' as const])),
      },
      find(given, { today }, { logoUrl }) {
        const reference = readReference(given)
        // It has no identifier of its own for what is missing: any of the nine would do.
        if (isRefused(reference)) return reference.code === 41847 ? missing('domain') : reference
        const record = companyOf(reference, logoUrl)
        if (record === null) return { rows: [] }
        return { rows: similarTo(record, search(given, today())) }
      },
      // The score orders the rows. The description shows one for people alone.
      show: ({ company }, _, { today }) => companyRow(company, today()),
    },
    world,
  )

type CompanyFilters = {
  [N in keyof typeof filters | keyof typeof companyFilters]?: readonly string[] | undefined
}

function search(given: CompanyFilters, today: WorldDay): readonly WorldCompany[] {
  const tests: ((company: WorldCompany) => boolean)[] = []
  if (given.countries) {
    const isThere = placeTest(given.countries)
    tests.push(({ place }) => isThere(place.country, null))
  }
  if (given.company_exclude_locations) {
    const isThere = placeTest(given.company_exclude_locations)
    tests.push(({ place }) => !isThere(place.country, place.city))
  }
  if (given.industries) {
    const wanted = entriesOf(industries, given.industries)
    tests.push(({ industry }) => wanted.has(industry))
  }
  if (given.sizes) {
    const wanted = entriesOf(sizeNames, given.sizes)
    tests.push(({ size }) => wanted.has(size[2]))
  }
  if (given.social_media) {
    const wanted = exactly(socialMedia, given.social_media)
    tests.push((company) => company.socialMedia.some((medium) => wanted.has(medium)))
  }
  if (given.advertisement_status) {
    const wanted = exactly(advertisementStatuses, given.advertisement_status)
    tests.push((company) => wanted.has(statusOf(company, today)))
  }
  const named = namedCompanies(given)
  const all = named === undefined ? worldCompanies() : [...named].sort((a, b) => a.index - b.index)
  return tests.length === 0 ? all : all.filter((company) => tests.every((test) => test(company)))
}

function statusOf(company: WorldCompany, today: WorldDay): (typeof advertisementStatuses)[number] {
  const rows = today.advertisements.of(company)
  if (rows.length === 0) return 'never'
  return rows.some((each) => runsOn(each, today.day)) ? 'active' : 'inactive'
}

/** Returns the companies that are similar to a record, the most similar first. */
export function similarTo(record: Comparable, companies: readonly WorldCompany[]) {
  return companies
    .filter(({ domain }) => domain !== record.domain)
    .map((company) => ({ company, score: similarity(company, record) }))
    .filter(({ score }) => score >= LEAST_SIMILAR)
    .sort((a, b) => b.score - a.score || a.company.index - b.company.index)
}

interface Comparable {
  industry?: string | null | undefined
  unformatted_company_size?: string | null | undefined
  country_codes?: readonly (string | null)[] | null | undefined
  domain?: string | null | undefined
}

/** Returns 0 to 1. The record of a lookup may not tell the industry, which the world knows. */
function similarity(company: WorldCompany, record: Comparable): number {
  const known = companyOfDomain(record.domain ?? '')
  const score =
    (company.industry === (known?.industry ?? record.industry) ? 0.45 : 0) +
    (company.size[2] === record.unformatted_company_size ? 0.2 : 0) +
    (company.place.country === record.country_codes?.[0] ? 0.15 : 0) +
    0.2 * chance(company.index, 111)
  return Math.round(score * 1000) / 1000
}

function companyRow(company: WorldCompany, today: WorldDay) {
  return {
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    profnet_url: companyUrl(company.slug),
    industry: company.industry,
    company_size: company.staff,
    unformatted_company_size: company.size[2],
    country_code: company.place.country,
    headquarters: company.place.city,
    social_media: company.socialMedia,
    advertisement_status: statusOf(company, today),
    ...company.links,
  }
}
