import type { Operation } from '../../domain/words.ts'

/** Further paths of an operation: for several lookups at once, and for the answer that such a request defers. */
export type FurtherPath = 'batch' | 'batchQuery'

/** The paths that have a name in `service.paths`. Where each goes by default stands in the catalogue alone. */
export const pathNames = {
  companyProfile: ['company.profile'],
  personProfile: ['person.profile'],
  contactLookup: ['contact.lookup'],
  contactLookupBatch: ['contact.lookup', 'batch'],
  redemption: ['contact.redeem'],
  redemptionBatch: ['contact.redeem', 'batch'],
  redemptionBatchQuery: ['contact.redeem', 'batchQuery'],
  companyLookup: ['company.lookup'],
  companyEnrichment: ['company.enrich'],
  accountProfile: ['account.profile'],
  accountUsage: ['account.usage'],
} as const satisfies Record<string, readonly [Operation, more?: FurtherPath]>

export type EndpointName = keyof typeof pathNames
export const endpointNames = Object.keys(pathNames) as [EndpointName, ...EndpointName[]]
/** Paths by name. Those that are left out keep their default. */
export type Paths = Partial<Record<EndpointName, string>>
