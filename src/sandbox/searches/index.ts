import type { PaidEndpoint } from '../http/paid-endpoint.ts'
import type { World } from '../world/world.ts'
import { advertisementSearch } from './advertisements.ts'
import { cloudSearch } from './clouds.ts'
import { companySearch, companySimilar } from './companies.ts'
import { companyEnrichment } from './company-enrichment.ts'
import { expansionCompare, expansionDetail, expansionRankings, expansionSummary } from './expansion-reads.ts'
import { expansionLookup, expansionSearch, expansionSignals } from './expansions.ts'
import { advertisementInsights, cloudInsights, hiringInsights, newsInsights } from './insights.ts'
import { jobSearch } from './jobs.ts'
import { newsSearch } from './news.ts'
import { peopleSearch, peopleSimilar } from './people.ts'
import { personLookup } from './person-lookup.ts'

/** Returns the endpoints that answer from the world, by path. */
export function worldEndpoints(world: World): Record<string, PaidEndpoint> {
  return {
    '/people/lookup': personLookup,
    '/people/search': peopleSearch(world),
    '/people/search/similar': peopleSimilar(world),
    '/companies/lookup/enrich': companyEnrichment(world),
    '/companies/search': companySearch(world),
    '/companies/search/similar': companySimilar(world),
    '/jobs/search': jobSearch(world),
    '/jobs/insights': hiringInsights(world),
    '/news/search': newsSearch(world),
    '/news/insights': newsInsights(world),
    '/advertisements/search': advertisementSearch(world),
    '/advertisements/insights': advertisementInsights(world),
    '/clouds/search': cloudSearch(world),
    '/clouds/insights': cloudInsights(world),
    '/expansions/search': expansionSearch(world),
    '/expansions/lookup': expansionLookup(world),
    '/expansions/signals/search': expansionSignals(world),
    '/expansions/detail': expansionDetail(world),
    '/expansions/compare': expansionCompare(world),
    '/expansions/summary': expansionSummary(world),
    '/expansions/rankings': expansionRankings(world),
  }
}
