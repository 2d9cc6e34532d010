import { exactly } from '../data/match-words.ts'
import {
  advertisementSources,
  appleCountries,
  reachTiers,
  type Advertisement,
  type AdvertisementSource,
} from '../world/advertisements.ts'
import { chance } from '../world/chance.ts'
import { dateOf, momentOf } from '../world/clock.ts'
import { countriesOf, placeTest } from '../world/markets.ts'
import type { World } from '../world/world.ts'
import { companyFilters, rowsOf, sifted } from './narrow.ts'
import { inRange, type DayRange } from './read-filters.ts'
import { searchEndpoint } from './search-endpoint.ts'

/** `POST /advertisements/search`. */
export const advertisementSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'advertisements_search',
      price: 'advertisementSearch',
      rows: 'advertisements',
      filters: {
        ...companyFilters,
        advertisement_search_id: 'words',
        active_dates: 'range',
        created_at: 'range',
        reach_tiers: 'texts',
        source_types: 'texts',
        exclude_source_types: 'texts',
        advertisement_target_locations: 'texts',
        advertisement_exclude_target_locations: 'texts',
        is_ascending_order: 'flag',
      },
      find(filters, { today }) {
        const { advertisement_target_locations: targets, active_dates: active, created_at: created } = filters
        const sources = sourcesOf(filters.source_types, filters.exclude_source_types, targets)
        const tiers = filters.reach_tiers && tiersOf(filters.reach_tiers)
        if (tiers?.size === 0) return { rows: [], metadata: sources.metadata }
        const ids = filters.advertisement_search_id && new Set(filters.advertisement_search_id)
        const wanted = targets && placeTest(targets)
        const unwanted =
          filters.advertisement_exclude_target_locations &&
          placeTest(filters.advertisement_exclude_target_locations)
        const rows = sifted(
          rowsOf(today().advertisements, filters),
          (each) =>
            sources.applied.has(each.source) &&
            (ids === undefined || ids.has(each.id)) &&
            (tiers === undefined || tiers.has(each.tier.slug)) &&
            (wanted === undefined || wanted(each.country, null)) &&
            !unwanted?.(each.country, null) &&
            (active === undefined || ranWithin(each, active)) &&
            (created === undefined || inRange(created, each.day)),
          filters.is_ascending_order,
        )
        return { rows, metadata: sources.metadata }
      },
      show: (each) => advertisementRow(each),
    },
    world,
  )

/** Returns the sources that a search looks at, and the block that says so. A source without coverage is left out. */
function sourcesOf(
  asked: readonly string[] | undefined,
  excluded: readonly string[] | undefined,
  targets: readonly string[] | undefined,
) {
  const applied = new Set<AdvertisementSource>(
    asked === undefined ? advertisementSources : exactly(advertisementSources, asked),
  )
  for (const source of exactly(advertisementSources, excluded ?? [])) applied.delete(source)
  const countries = targets && countriesOf(targets)
  const skipped: string[] = []
  if (applied.has('apple') && countries && ![...countries].some((each) => appleCountries.includes(each))) {
    applied.delete('apple')
    skipped.push('apple')
  }
  const given = [...(asked ?? []), ...(excluded ?? [])]
  return {
    applied,
    metadata: {
      applied_source_types: [...applied],
      unsupported_source_types: given.filter((each) => exactly(advertisementSources, [each]).size === 0),
      skipped_source_types: skipped,
      coverage_notes: skipped.map((each) => `${each} has no data for the target locations`),
    },
  }
}

/** Returns the tiers that the values name, by slug or label. */
function tiersOf(values: readonly string[]) {
  const asked = new Set(values.map((value) => value.toLowerCase().replaceAll(/[^a-z0-9]/g, '')))
  const isAsked = (text: string) => asked.has(text.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  return new Set(
    reachTiers.filter(({ slug, label }) => isAsked(slug) || isAsked(label)).map(({ slug }) => slug),
  )
}

function ranWithin({ day, lastDay }: Advertisement, { first, last }: DayRange) {
  return day <= last && (lastDay ?? Infinity) >= first
}

/** Returns an advertisement as searches and enrichments show it. */
export function advertisementRow(each: Advertisement) {
  const { company, seed, tier } = each
  const draw = (salt: number) => chance(company.index, salt, seed)
  const impressions = impressionsOf(each)
  const isMatched = draw(511) < 0.95
  return {
    advertisement_search_id: each.id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    is_company_matched: isMatched,
    advertiser: isMatched ? company.name : `${company.name} Marketing`,
    title: `${company.name}: better by design`,
    advertisement_format_normalized: each.format,
    advertisement_url: `https://ads.example/${each.id}`,
    source_type: each.source,
    reach_tier: tier.slug,
    target_locations: [each.country],
    total_impressions: impressions,
    total_impressions_min: tier.from,
    total_impressions_max: tier.to,
    active_from: dateOf(each.day),
    active_until: each.lastDay === null ? null : dateOf(each.lastDay),
    created_at: momentOf(each.day, draw(512)),
  }
}

export function impressionsOf({ company, seed, tier }: Advertisement): number {
  return tier.from + Math.floor(chance(company.index, 513, seed) * (tier.to - tier.from))
}
