import { z } from 'zod'
import { canonicalDomain } from '../../domain/keys.ts'

/** Names a company by exactly one of these. A website address is sent as its bare domain. */
export const companyIdentifierSchema = z
  .strictObject({
    domain: z
      .string()
      .transform((raw, context) => {
        const canonical = canonicalDomain(raw)
        if (canonical.ok) return canonical.value
        context.addIssue({ code: 'custom', message: canonical.reason })
        return z.NEVER
      })
      .optional(),
    profnet_url: z
      .url({ protocol: /^https?$/ })
      .includes('/company/')
      .optional(),
    domain_search_id: z.string().trim().min(1).optional(),
  })
  .refine(
    (request) => Object.values(request).filter((value) => value !== undefined).length === 1,
    'names one company: by domain, profnet_url or domain_search_id',
  )
