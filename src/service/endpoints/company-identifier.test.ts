import { describe, expect, test } from 'vitest'
import {
  canonicalIdentifier,
  companyIdentifierNames,
  companyKey,
  sentIdentifier,
  type CompanyIdentifier,
} from '../../domain/planning/company-keys.ts'
import { prepareRequest } from '../client.ts'

const spellings: Record<CompanyIdentifier, readonly [key: string, ...string[]]> = {
  domain: ['acme.example', 'https://www.acme.example/x', 'ACME.example', 'shop.acme.example'],
  profnet_url: [
    'profnet.com/company/acme',
    'https://de.profnet.example/company/Acme/about',
    'profnet.com/company/acme?x=1',
  ],
  domain_search_id: ['domain_search_id:ds-1', 'ds-1', ' ds-1 '],
  tiktok_url: ['tiktok_url:tiktok.com/@acme', 'https://www.tiktok.com/@Acme?lang=de', 'm.tiktok.com/@acme'],
  wantedly_url: [
    'wantedly_url:wantedly.com/companies/acme',
    'https://www.wantedly.com/companies/acme/',
    'sg.wantedly.com/companies/acme',
  ],
  tw104_url: [
    'tw104_url:104.com.tw/company/1a2b',
    'https://www.104.com.tw/company/1a2b?jobsource=x',
    'm.104.com.tw/company/1a2b',
  ],
  rocketpunch_url: [
    'rocketpunch_url:rocketpunch.com/companies/acme',
    'https://www.rocketpunch.com/companies/acme',
    'rocketpunch.com/companies/acme/#jobs',
  ],
  remember_url: [
    'remember_url:career.rememberapp.co.kr/job/company/7',
    'https://career.rememberapp.co.kr/job/company/7',
    'career.rememberapp.co.kr/job/company/7/',
  ],
  youtrust_url: [
    'youtrust_url:youtrust.jp/companies/7f',
    'https://youtrust.jp/companies/7f',
    'www.youtrust.jp/companies/7f',
  ],
}

describe('a company by each of its nine identifiers', () => {
  test.each(companyIdentifierNames)('%s has one key and one body for all its spellings', (name) => {
    const [key, ...raws] = spellings[name]
    const bodies = raws.map((raw) => {
      const canonical = canonicalIdentifier(name, raw)
      if (!canonical.ok) throw new Error(canonical.reason)
      for (const operation of ['company.lookup', 'company.enrich'] as const)
        expect(companyKey(operation, name, canonical.value)).toBe(`${operation}|${key}`)
      const request = { [name]: sentIdentifier(name, canonical.value) }
      return prepareRequest('https://service.example', 'company.lookup', request).body
    })
    expect(raws.length).toBeGreaterThan(1)
    expect(new Set(bodies).size).toBe(1)
  })

  test.each([
    [{}, 'names one company, by one of profnet_url, domain, domain_search_id, tiktok_url'],
    [{ domain: 'acme.example', tiktok_url: 'https://tiktok.com/@acme' }, 'names one company, by one of'],
    [{ tiktok_url: 'https://facebook.example/acme' }, 'tiktok_url its host does not name tiktok'],
    [{ tiktok: 'https://tiktok.com/@acme' }, 'Unrecognized key'],
  ])('refuses %j before it is sent', (request, message) => {
    for (const operation of ['company.lookup', 'company.enrich'] as const)
      expect(() => prepareRequest('https://service.example', operation, request)).toThrow(message)
  })
})
