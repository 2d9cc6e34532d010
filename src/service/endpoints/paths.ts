/**
 * Paths below the base address. `service.md` gives the first two. The others are not shown there, so each is a default
 * that the settings may replace.
 */
export const defaultPaths = {
  companyProfile: '/companies/profnet/lookup',
  personProfile: '/people/profnet/lookup',
  contactLookup: '/redeem/people/contact/lookup',
  contactLookupBatch: '/redeem/people/contact/lookup/batch',
  redemption: '/redeem/people',
  redemptionBatch: '/redeem/people/batch',
  redemptionBatchQuery: '/redeem/people/batch/query',
  companyLookup: '/companies/lookup',
  companyEnrichment: '/companies/lookup/enrich',
  accountProfile: '/profile',
  accountUsage: '/profile/usage',
} as const

export type EndpointName = keyof typeof defaultPaths
export const endpointNames = Object.keys(defaultPaths) as [EndpointName, ...EndpointName[]]
/** Paths by endpoint. Endpoints that are left out keep their default. */
export type Paths = Partial<Record<EndpointName, string>>
