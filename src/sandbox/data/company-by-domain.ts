import type { Company } from '../../service/schema/company.ts'
import type { EnrichedCompany } from '../../service/schema/enrichment.ts'
import { createDice } from '../random.ts'
import { companyAnswer, list, moment, type DataOptions } from './company.ts'
import { employersAt } from './directory.ts'
import { places } from './places.ts'
import { posts, titles } from './words.ts'

export const companyUrl = (slug: string) => `https://www.profnet.example/company/${encodeURIComponent(slug)}`

/**
 * Returns the sandbox's answer for a bare domain: the company whose profile has that domain. Under `.example` that is
 * the profile of the same name. For other domains a company is invented from the whole domain, so that any customer's
 * records find one.
 */
export function companyByDomain(domain: string, options: DataOptions = {}): { data: Company | null } {
  const firm = employersAt(domain)[0]
  if (firm !== undefined) return companyAnswer(companyUrl(firm.slug), options)
  const isExample = domain.endsWith('.example')
  const slug = isExample ? domain.slice(0, -'.example'.length) : domain.replaceAll('.', '-')
  const { data } = slug === '' ? { data: null } : companyAnswer(companyUrl(slug), options)
  if (data === null || (isExample && data.domain !== domain)) return { data: null }
  return {
    data: isExample ? data : { ...data, domain, unique_domain: domain, company_url: `https://${domain}` },
  }
}

/** Returns a company with the rows of its hiring, news and advertising: up to five of each. */
export function enriched(company: Company): EnrichedCompany {
  const dice = createDice(`enriched ${company.domain}`)
  return {
    ...company,
    jobs: list(dice, 5, () => ({
      title: dice.pick(titles),
      location: dice.pick(places).city,
      created_at: moment(dice),
    })),
    news: list(dice, 5, () => ({ title: dice.pick(posts), published_at: moment(dice) })),
    advertisements: list(dice, 5, () => ({ title: dice.pick(posts), created_at: moment(dice) })),
  }
}
