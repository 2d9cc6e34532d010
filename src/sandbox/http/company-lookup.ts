import { setTimeout as delay } from 'node:timers/promises'
import type { Company } from '../../service/schema/company.ts'
import { companyByDomain, companyUrl, enriched } from '../data/company-by-domain.ts'
import { companyAnswer } from '../data/company.ts'
import { fraction } from '../random.ts'
import {
  companyIdentifiers,
  readReference,
  referenceKey,
  type CompanyReference,
} from './company-reference.ts'
import type { PaidAsk, Answered, PaidEndpoint } from './paid-endpoint.ts'
import { isRefused, parseObject, readBody } from './request-body.ts'

/** `POST /companies/lookup`: returns the record by any of nine identifiers. */
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
  const read = readBody(ask, companyIdentifiers)
  if (isRefused(read)) return { refused: read, status: 400 }
  const named = readReference(read.body)
  if (isRefused(named)) return { refused: named, status: 400 }
  const data = companyOf(named, ask.logoUrl)
  return { data, credits: price, ignoredFields: read.ignoredFields, creditsAt: 'metadata' }
}

/** Returns the record of a reference, as a lookup answers it. */
export function companyOf(reference: CompanyReference, logoUrl: string): Company | null {
  if ('unknownUrl' in reference) return null
  const { data } =
    'domain' in reference
      ? companyByDomain(reference.domain, { logoUrl })
      : companyAnswer(companyUrl(reference.slug), { logoUrl })
  return data
}

function keysOf(text: string | null, word: string): string[] {
  const body = parseObject(text)
  const named = body && readReference({ ...body, profnet_url: body[`${word}_url`] })
  return !named || isRefused(named) ? [] : [referenceKey(named)]
}
