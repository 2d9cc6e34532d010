import { z } from 'zod'
import { canonicalDomain } from '../../domain/keys.ts'
import { canonicalNetworkUrl, networkUrlNames, networkUrlOf } from '../../domain/normalise/network-url.ts'
import { companyIdentifierNames } from '../../domain/planning/company-keys.ts'

/** The pages of a company on further networks. Each is sent in the spelling that its key has. */
const pages = Object.fromEntries(
  networkUrlNames.map((name) => [
    name,
    z
      .string()
      .transform((raw, context) => {
        const canonical = canonicalNetworkUrl(name, raw)
        if (canonical.ok) return networkUrlOf(canonical.value)
        context.addIssue({ code: 'custom', message: canonical.reason })
        return z.NEVER
      })
      .optional(),
  ]),
)

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
    ...pages,
  })
  .refine(
    (request) => Object.values(request).filter((value) => value !== undefined).length === 1,
    `names one company, by one of ${companyIdentifierNames.join(', ')}`,
  )
