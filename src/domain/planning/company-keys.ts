import { askableProfileUrl, lookupKey, profileUrlOf, type Canonical, type LookupKey } from '../keys.ts'
import {
  canonicalNetworkUrl,
  networkUrlNames,
  networkUrlOf,
  type NetworkUrlName,
} from '../normalise/network-url.ts'
import { companyDomain } from './contact-keys.ts'

/** The nine names by which the service knows a company. A request has one of them. */
export type CompanyIdentifier = 'domain' | 'profnet_url' | 'domain_search_id' | NetworkUrlName
export const companyIdentifierNames: readonly CompanyIdentifier[] = [
  'profnet_url',
  'domain',
  'domain_search_id',
  ...networkUrlNames,
]

export function isCompanyIdentifier(name: string): name is CompanyIdentifier {
  return (companyIdentifierNames as readonly string[]).includes(name)
}

/** The service's ids are short, and an id is part of the ledger's keys. */
const maxIdLength = 200

/** Returns the canonical form of a company's identifier, the same for all spellings. Reasons never contain the value. */
export function canonicalIdentifier(
  name: CompanyIdentifier,
  raw: string,
  hosts?: readonly string[],
): Canonical {
  switch (name) {
    case 'profnet_url':
      return askableProfileUrl('company', raw, hosts)
    case 'domain':
      return companyDomain(raw)
    case 'domain_search_id':
      return canonicalId(raw)
    default:
      return canonicalNetworkUrl(name, raw)
  }
}

/** Returns the canonical form of a company's id. */
export function canonicalId(raw: string): Canonical {
  const value = raw.trim()
  if (value === '') return { ok: false, reason: 'it is empty' }
  // A bar divides the parts of a key.
  if (value.length > maxIdLength || /[\s|\p{Cc}]/u.test(value)) return { ok: false, reason: 'it is no id' }
  return { ok: true, value }
}

/** Returns the value that is sent for a canonical identifier. */
export function sentIdentifier(name: CompanyIdentifier, canonical: string): string {
  if (name === 'domain' || name === 'domain_search_id') return canonical
  return name === 'profnet_url' ? profileUrlOf(canonical) : networkUrlOf(canonical)
}

/**
 * Returns the key of a company's lookup. Profile and domain stand alone in it, as they did before there were other
 * identifiers; the others follow their name.
 */
export function companyKey(
  operation: 'company.profile' | 'company.lookup' | 'company.enrich',
  name: CompanyIdentifier,
  canonical: string,
): LookupKey {
  const isBare = name === 'domain' || name === 'profnet_url'
  return lookupKey(operation, isBare ? canonical : `${name}:${canonical}`)
}
