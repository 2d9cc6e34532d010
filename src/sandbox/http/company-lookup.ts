import type { Company } from '../../service/schema/company.ts'
import { companyByDomain, companyUrl } from '../data/company-by-domain.ts'
import { companyAnswer } from '../data/company.ts'
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
  keys: (text, word) => companyKeys(text, word),
  ceiling: (_, prices) => prices.companyLookup,
  answer: (ask) => lookUpCompany(ask, ask.prices.companyLookup),
}

/** Answers with the record of the company that a request names. */
export function lookUpCompany(ask: PaidAsk, price: number): Answered {
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

/** Returns the company that a body names, in one spelling. */
export function companyKeys(text: string | null, word: string): string[] {
  const body = parseObject(text)
  const named = body && readReference({ ...body, profnet_url: body[`${word}_url`] })
  return !named || isRefused(named) ? [] : [referenceKey(named)]
}
