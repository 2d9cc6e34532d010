import { describe, expect, test } from 'vitest'
import { nextStep, type Facts } from './planner.ts'
import { builtInRecipes, type Recipe } from './recipes.ts'
import type { Fact, Identity } from '../record.ts'

const contact = builtInRecipes('company', 'contact')
const full = builtInRecipes('company', 'full')
const basic: Recipe = {
  ...contact,
  fields: ['company_name', 'industry', 'employees'],
  steps: ['company.lookup', 'company.profile'],
}
const found = (data: Record<string, unknown>): Fact => ({ outcome: 'found', data })
const nothing: Fact = { outcome: 'not_found', data: null }
const acme = {
  company_name: 'Acme',
  domain: 'acme.example',
  industry: 'Robots',
  company_size: 12,
  profnet_url: 'https://profnet.com/company/acme',
}

const next = (recipe: Recipe, identity: Identity, facts: Facts = {}) => {
  const step = nextStep({ object: 'company', identity }, recipe, facts)
  return step.kind === 'lookup'
    ? step.lookup.key
    : step.kind === 'write'
      ? Object.keys(step.values).join(' ')
      : `${step.status}: ${step.reason}`
}

describe('a company', () => {
  test.each<[what: string, identity: Identity, recipe: Recipe, next: string]>([
    [
      'with a profile URL',
      { profileUrl: acme.profnet_url, domain: 'other.example' },
      contact,
      'company.profile|profnet.com/company/acme',
    ],
    ['with a domain', { domain: 'https://www.acme.example/x' }, contact, 'company.lookup|acme.example'],
    [
      'with a broken URL and a domain',
      { profileUrl: 'acme', domain: 'acme.example' },
      contact,
      'company.lookup|acme.example',
    ],
    [
      'with a page on another network alone',
      { tiktokUrl: 'https://m.tiktok.com/@Acme/video/7?lang=en' },
      contact,
      'company.lookup|tiktok_url:tiktok.com/@acme',
    ],
    [
      'with such a page and the domain of a provider',
      { domain: 'gmail.com', wantedlyUrl: 'https://www.wantedly.com/companies/acme' },
      contact,
      'company.lookup|wantedly_url:wantedly.com/companies/acme',
    ],
    [
      'with the id of a search',
      { companyId: ' ds-1 ', tiktokUrl: 'https://www.tiktok.com/@acme' },
      contact,
      'company.lookup|domain_search_id:ds-1',
    ],
    [
      'with a broken page',
      { tiktokUrl: 'https://www.wantedly.com/companies/acme' },
      contact,
      'skipped: no profile URL and no domain, and the TikTok URL cannot be used: its host does not name tiktok',
    ],
    [
      'with a page that the recipe cannot look up by',
      { tiktokUrl: 'https://www.tiktok.com/@acme' },
      builtInRecipes('company', 'profile'),
      'skipped: no profile URL to look up by',
    ],
    [
      'with an e-mail of its own',
      { email: 'info@mail.acme.example' },
      contact,
      'company.lookup|acme.example',
    ],
    [
      'with the e-mail of a provider',
      { email: 'acme@gmail.com' },
      contact,
      'skipped: no profile URL and no domain to look up by',
    ],
    [
      'with the domain of a provider',
      { domain: 'gmail.com' },
      contact,
      'skipped: no profile URL, and the domain cannot be used: it is a mailbox provider, not a company',
    ],
    ['with nothing', {}, contact, 'skipped: no profile URL and no domain to look up by'],
    [
      'with a broken URL alone',
      { profileUrl: 'acme' },
      contact,
      'rejected: broken profile URL: it has no host name',
    ],
    ['whose enrichment is wanted', { domain: 'acme.example' }, full, 'company.enrich|acme.example'],
    [
      'whose enrichment is wanted, by URL',
      { profileUrl: acme.profnet_url },
      full,
      'company.enrich|profnet.com/company/acme',
    ],
    [
      'whose enrichment alone may be bought, by URL',
      { profileUrl: acme.profnet_url },
      { ...full, steps: ['company.enrich'] },
      'company.enrich|profnet.com/company/acme',
    ],
    [
      'whose enrichment alone may be bought, by domain',
      { domain: 'acme.example' },
      { ...full, steps: ['company.enrich'] },
      'company.enrich|acme.example',
    ],
    [
      'with a domain, where only profiles may be bought',
      { domain: 'acme.example' },
      builtInRecipes('company', 'profile'),
      'skipped: no profile URL to look up by',
    ],
  ])('%s', (_, identity, recipe, wanted) => {
    expect(next(recipe, identity)).toBe(wanted)
  })

  test('buys the profile only for fields that the lookup does not answer', () => {
    const { industry: _, ...lean } = acme
    expect(next(basic, { domain: 'acme.example' }, { 'company.lookup': found(acme) })).toBe(
      'company_name industry employees',
    )
    expect(
      next(basic, { domain: 'acme.example' }, { 'company.lookup': found({ ...lean, industry: null }) }),
    ).toBe('company_name employees')
    expect(next(basic, { domain: 'acme.example' }, { 'company.lookup': found(lean) })).toBe(
      'company.profile|profnet.com/company/acme',
    )
    expect(
      next(basic, { domain: 'acme.example' }, { 'company.lookup': found(lean), 'company.profile': nothing }),
    ).toBe('company_name employees')
  })

  test('is enriched only for fields of the enrichment alone, and then needs no profile', () => {
    const recipe: Recipe = {
      ...full,
      fields: ['company_name', 'open_jobs', 'news_items', 'similar_companies'],
    }
    const enriched = found({
      ...acme,
      jobs: [{}, {}],
      news: [],
      advertisements: null,
      similar_companies: [{ company_name: 'Borealis' }, {}, { company_name: 'Cygnus' }],
    })
    expect(
      nextStep({ object: 'company', identity: { domain: 'acme.example' } }, recipe, {
        'company.enrich': enriched,
      }),
    ).toEqual({
      kind: 'write',
      values: { company_name: 'Acme', open_jobs: 2, similar_companies: 'Borealis; Cygnus' },
    })
    expect(next({ ...recipe, fields: ['company_name'] }, { domain: 'acme.example' })).toBe(
      'company.lookup|acme.example',
    )
  })

  test('continues without an enrichment that found nothing or failed', () => {
    for (const fact of [nothing, { outcome: 'failed', data: null, reason: 'gone' } as Fact])
      expect(next(full, { domain: 'acme.example' }, { 'company.enrich': fact })).toBe(
        'company.lookup|acme.example',
      )
    const facts: Facts = { 'company.enrich': nothing, 'company.lookup': nothing }
    expect(next(full, { domain: 'acme.example' }, facts)).toBe('unchanged: not found by the service')
  })

  test('has its logo last, by the domain that was found, not by its own', () => {
    const facts: Facts = { 'company.profile': found(acme) }
    expect(next(contact, { profileUrl: acme.profnet_url, domain: 'other.example' }, facts)).toBe(
      'company.logo|acme.example',
    )
    const logos: Recipe = { name: 'logos', fields: ['logo'], steps: ['company.logo'] }
    expect(next(logos, { domain: 'www.acme.example' })).toBe('company.logo|acme.example')
    expect(
      next(logos, { domain: 'www.acme.example' }, { 'company.logo': found({ url: 'https://logo/x' }) }),
    ).toBe('logo')
    expect(next(logos, { domain: 'www.acme.example' }, { 'company.logo': nothing })).toBe(
      'unchanged: no logo found',
    )
    expect(next(logos, {})).toBe('skipped: no domain to find a logo by')
  })
})

test.each(['failed', 'unreadable'] as const)('what is written says that a step was %s', (outcome) => {
  const bad: Fact = { outcome, data: null, reason: 'gone' }
  const facts: Facts = { 'company.lookup': found({ company_name: 'Acme' }), 'company.profile': bad }
  const step = nextStep({ object: 'company', identity: { domain: 'acme.example' } }, basic, facts)
  expect(step).toMatchObject({
    kind: 'write',
    values: { company_name: 'Acme' },
    reason: expect.stringMatching(/./),
  })
})
