import { enrichedCompanySchema } from '../schema/enrichment.ts'
import { companyIdentifierSchema } from './company-identifier.ts'
import { decodeData, type Endpoint } from './endpoint.ts'

/** A company with its jobs, news, advertisements and similar companies. The service takes 30 to 60 seconds. */
export const companyEnrichment = {
  operation: 'company.enrich',
  request: companyIdentifierSchema,
  timeoutMs: 90_000,
  decode: decodeData(enrichedCompanySchema),
} satisfies Endpoint
