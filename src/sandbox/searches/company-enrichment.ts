import { setTimeout as delay } from 'node:timers/promises'
import type { Company } from '../../service/schema/company.ts'
import { isBranch } from '../data/branches.ts'
import { companyUrl, enriched } from '../data/company-by-domain.ts'
import { companyKeys, lookUpCompany } from '../http/company-lookup.ts'
import type { PaidEndpoint } from '../http/paid-endpoint.ts'
import { fraction } from '../random.ts'
import { companyOfDomain, worldCompanies } from '../world/companies.ts'
import type { World } from '../world/world.ts'
import { advertisementRow } from './advertisements.ts'
import { similarTo } from './companies.ts'
import { jobRow } from './jobs.ts'
import { newsRow } from './news.ts'

const MOST_ROWS = 5

/** `POST /companies/lookup/enrich`: returns the record and its lists, delayed by the fault switch. */
export const companyEnrichment = (world: World): PaidEndpoint => ({
  name: 'companies_enrich',
  keys: (text, word) => companyKeys(text, word).map((key) => `enrich ${key}`),
  ceiling: (_, prices) => prices.companyEnrichment,
  async answer(ask) {
    const answered = lookUpCompany(ask, ask.prices.companyEnrichment)
    if ('refused' in answered) return answered
    const { enrichmentLatency, seed } = ask.faults.current
    if (enrichmentLatency !== null) {
      const { minMs, maxMs } = enrichmentLatency
      await delay(minMs + fraction(`${seed} enrichment ${ask.text}`) * Math.max(0, maxMs - minMs))
    }
    return { ...answered, data: answered.data === null ? null : enrich(answered.data as Company, world) }
  },
})

/** The lists of a branch are rows that its searches find. Firms of the directory and outsiders have invented ones. */
function enrich(company: Company, world: World) {
  const known = isBranch(company.profnet_name ?? '') ? companyOfDomain(company.domain ?? '') : undefined
  if (known === undefined) return enriched(company)
  const today = world.today()
  return {
    ...company,
    jobs: today.jobs.of(known).slice(0, MOST_ROWS).map(jobRow),
    news: today.news.of(known).slice(0, MOST_ROWS).map(newsRow),
    similar_companies: similarTo(company, worldCompanies())
      .slice(0, 3)
      .map(({ company: similar }) => ({
        industry: similar.industry,
        location: similar.place.city,
        company_name: similar.name,
        profnet_url: companyUrl(similar.slug),
      })),
    advertisements: today.advertisements.of(known).slice(0, MOST_ROWS).map(advertisementRow),
  }
}
