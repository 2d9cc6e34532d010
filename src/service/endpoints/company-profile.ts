import { z } from 'zod'
import { companySchema } from '../schema/company.ts'
import { decodeData, type Endpoint } from './endpoint.ts'

/** `POST /companies/profnet/lookup` (service.md, 4.1): looks a company up by its profile URL. 0.01 USD. */
export const companyProfile = {
  operation: 'company.profile',
  request: z.object({ profnet_url: z.url({ protocol: /^https?$/ }).includes('/company/') }),
  timeoutMs: 30_000,
  decode: decodeData(companySchema),
} satisfies Endpoint
