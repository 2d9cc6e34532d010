import { foldDomain } from '../data/fold.ts'
import { profileKey } from '../data/profile-url.ts'
import { companyOfLink, networkKeys, type NetworkKey } from '../world/companies.ts'
import { isAbsent, malformed, missing, type BadRequest } from './request-body.ts'

/** The nine identifiers of a company. */
export const companyIdentifiers = ['domain', 'profnet_url', 'domain_search_id', ...networkKeys] as const

/** The company that a body names. One that only its page on another network names can be nobody's. */
export type CompanyReference = { domain: string } | { slug: string } | { unknownUrl: string }

/** Returns the company that the first identifier of a body names. */
export function readReference(body: Record<string, unknown>): CompanyReference | BadRequest {
  const given = companyIdentifiers.find((name) => !isAbsent(body[name]))
  if (given === undefined) return missing('domain')
  const value = body[given]
  if (typeof value !== 'string') return malformed(`${given} must be a string`, given)
  if (isNetworkKey(given)) {
    if (!/^https?:\/\//i.test(value.trim())) return malformed(`${given} must be a full URL`, given)
    const company = companyOfLink(given, value)
    return company === undefined ? { unknownUrl: value.trim() } : { slug: company.slug }
  }
  if (given === 'profnet_url') {
    const key = profileKey('company', value)
    return key === null
      ? malformed('profnet_url is no company profile', given)
      : { slug: key.slice('company/'.length) }
  }
  const domain = given === 'domain' ? foldDomain(value) : foldDomain(value.replace(/^ds-/, ''))
  return domain === null ? malformed(`${given} names no domain`, given) : { domain }
}

/** Returns the one spelling of a reference. */
export function referenceKey(reference: CompanyReference): string {
  if ('domain' in reference) return `domain ${reference.domain}`
  return 'slug' in reference ? `company/${reference.slug}` : `page ${reference.unknownUrl}`
}

function isNetworkKey(name: string): name is NetworkKey {
  return networkKeys.includes(name as never)
}
