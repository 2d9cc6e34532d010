import type { PaidEndpoint } from '../http/paid-endpoint.ts'
import type { World } from '../world/world.ts'
import { advertisementSearch } from './advertisements.ts'
import { cloudSearch } from './clouds.ts'
import { companySearch, companySimilar } from './companies.ts'
import { expansionLookup, expansionSearch, expansionSignals } from './expansions.ts'
import { jobSearch } from './jobs.ts'
import { newsSearch } from './news.ts'
import { peopleSearch, peopleSimilar } from './people.ts'

/** Returns the endpoints that answer from the world, by path. */
export function worldEndpoints(world: World): Record<string, PaidEndpoint> {
  return {
    '/people/search': peopleSearch(world),
    '/people/search/similar': peopleSimilar(world),
    '/companies/search': companySearch(world),
    '/companies/search/similar': companySimilar(world),
    '/jobs/search': jobSearch(world),
    '/news/search': newsSearch(world),
    '/advertisements/search': advertisementSearch(world),
    '/clouds/search': cloudSearch(world),
    '/expansions/search': expansionSearch(world),
    '/expansions/lookup': expansionLookup(world),
    '/expansions/signals/search': expansionSignals(world),
  }
}
