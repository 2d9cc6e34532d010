import { setTimeout as delay } from 'node:timers/promises'
import type { Company } from '../../service/schema/company.ts'
import { companyByDomain, companyUrl, enriched } from '../data/company-by-domain.ts'
import { companyAnswer } from '../data/company.ts'
import { foldDomain } from '../data/fold.ts'
import { profileKey } from '../data/profile-url.ts'
import { fraction } from '../random.ts'
import type { PaidAsk, Answered, PaidEndpoint } from './paid-endpoint.ts'
import {
  isAbsent,
  isRefused,
  malformed,
  missing,
  parseObject,
  readBody,
  type BadRequest,
} from './request-body.ts'

const identifiers = ['domain', 'profnet_url', 'domain_search_id'] as const

/** `POST /companies/lookup`: returns the record by domain, profile URL or id. */
export const companyLookup: PaidEndpoint = {
  name: 'companies_lookup',
  keys: (text, word) => keysOf(text, word),
  ceiling: (_, prices) => prices.companyLookup,
  answer: (ask) => lookUp(ask, ask.prices.companyLookup),
}

/** `POST /companies/lookup/enrich`: returns the record and its lists, delayed by the fault switch. */
export const companyEnrichment: PaidEndpoint = {
  name: 'companies_enrich',
  keys: (text, word) => keysOf(text, word).map((key) => `enrich ${key}`),
  ceiling: (_, prices) => prices.companyEnrichment,
  async answer(ask) {
    const answered = lookUp(ask, ask.prices.companyEnrichment)
    if ('refused' in answered) return answered
    const { enrichmentLatency, seed } = ask.faults.current
    if (enrichmentLatency !== null) {
      const { minMs, maxMs } = enrichmentLatency
      await delay(minMs + fraction(`${seed} enrichment ${ask.text}`) * Math.max(0, maxMs - minMs))
    }
    return { ...answered, data: answered.data === null ? null : enriched(answered.data as Company) }
  },
}

function lookUp(ask: PaidAsk, price: number): Answered {
  const read = readBody(ask, identifiers)
  if (isRefused(read)) return { refused: read, status: 400 }
  const named = namedBy(read.body)
  if (isRefused(named)) return { refused: named, status: 400 }
  const { logoUrl } = ask
  const { data } =
    'domain' in named
      ? companyByDomain(named.domain, { logoUrl })
      : companyAnswer(companyUrl(named.slug), { logoUrl })
  return { data, credits: price, ignoredFields: read.ignoredFields, creditsAt: 'metadata' }
}

function namedBy(body: Record<string, unknown>): { domain: string } | { slug: string } | BadRequest {
  const given = identifiers.find((name) => !isAbsent(body[name]))
  if (given === undefined) return missing('domain')
  const value = body[given]
  if (typeof value !== 'string') return malformed(`${given} must be a string`, given)
  if (given === 'profnet_url') {
    const key = profileKey('company', value)
    return key === null
      ? malformed('profnet_url is no company profile', given)
      : { slug: key.slice('company/'.length) }
  }
  // A company's id is its domain with two letters in front.
  const domain = given === 'domain' ? foldDomain(value) : foldDomain(value.replace(/^ds-/, ''))
  return domain === null ? malformed(`${given} names no domain`, given) : { domain }
}

function keysOf(text: string | null, word: string): string[] {
  const body = parseObject(text)
  const named = body && namedBy({ ...body, profnet_url: body[`${word}_url`] })
  if (!named || isRefused(named)) return []
  return ['domain' in named ? `domain ${named.domain}` : `company/${named.slug}`]
}
