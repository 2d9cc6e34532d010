import { companyUrl } from '../data/company-by-domain.ts'
import { worldCompanies } from '../world/companies.ts'

/** A company of the service's world as a person has entered it into a CRM. */
export interface KnownCompany {
  name: string
  website?: string
  profileUrl?: string
}

const spellings: readonly ((name: string, domain: string, slug: string) => KnownCompany)[] = [
  (name, domain) => ({ name: `${name} GmbH`, website: `https://www.${domain}/de/` }),
  (name, domain) => ({ name: name.toUpperCase(), website: domain }),
  (name, _, slug) => ({
    name: `${name} (Kunde)`,
    profileUrl: companyUrl(slug).replace('https://www.', 'http://de.'),
  }),
  (name, domain, slug) => ({
    name,
    website: `HTTP://${domain.toUpperCase()}:80`,
    profileUrl: `${companyUrl(slug)}/about`,
  }),
  // By its name alone nobody can tell.
  (name) => ({ name: `${name}, Inc.` }),
]

/** Returns every fifth German company of finance in the service's world, each spelled in another way. */
export function knownCompanies(count: number): KnownCompany[] {
  if (count === 0) return []
  return worldCompanies()
    .filter(({ place, industry }) => place.country === 'DE' && industry === 'Financial Services')
    .filter((_, at) => at % 5 === 2)
    .slice(0, count)
    .map(({ name, domain, slug }, at) => spellings[at % spellings.length]!(name, domain, slug))
}
