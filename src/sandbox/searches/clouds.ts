import { exactly } from '../data/match-words.ts'
import { chance } from '../world/chance.ts'
import { dateOf, momentOf } from '../world/clock.ts'
import { cloudProviders, type Footprint } from '../world/clouds.ts'
import { countriesOf } from '../world/markets.ts'
import type { World } from '../world/world.ts'
import { companyFilters, rowsOf, sifted } from './narrow.ts'
import { inRange } from './read-filters.ts'
import { searchEndpoint } from './search-endpoint.ts'

/** `POST /clouds/search`. The description names none of its filters. */
export const cloudSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'clouds_search',
      price: 'cloudSearch',
      rows: 'clouds',
      filters: {
        ...companyFilters,
        countries: 'texts',
        providers: 'texts',
        regions: 'texts',
        created_at: 'range',
        is_ascending_order: 'flag',
      },
      find(filters, { today }) {
        const countries = filters.countries && countriesOf(filters.countries)
        const providers = filters.providers && exactly(cloudProviders, filters.providers)
        const regions = filters.regions && new Set(filters.regions.map((region) => region.toLowerCase()))
        const { created_at: created } = filters
        const rows = sifted(
          rowsOf(today().footprints, filters),
          (each) =>
            (countries === undefined || countries.has(each.country)) &&
            (providers === undefined || providers.has(each.provider)) &&
            (regions === undefined || regions.has(each.region)) &&
            (created === undefined || inRange(created, each.day)),
          filters.is_ascending_order,
        )
        return { rows }
      },
      show: (each) => cloudRow(each),
    },
    world,
  )

/** Returns a footprint as searches show it. */
export function cloudRow({ id, company, country, provider, region, day, seed }: Footprint) {
  return {
    cloud_search_id: id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    provider,
    region,
    country_code: country,
    first_seen_at: dateOf(day),
    created_at: momentOf(day, chance(company.index, 611, seed)),
  }
}
