import { companySchema } from '../schema/company.ts'
import { companyIdentifierSchema } from './company-identifier.ts'
import { decodeData, type Endpoint } from './endpoint.ts'

/** Looks a company up by its domain, for records without a profile URL. */
export const companyLookup = {
  operation: 'company.lookup',
  request: companyIdentifierSchema,
  timeoutMs: 30_000,
  decode: decodeData(companySchema),
} satisfies Endpoint
