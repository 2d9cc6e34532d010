import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { differentSearches, spellingsOf } from '../../../test/support/search-spellings.ts'
import { testSeed } from '../../../test/support/seed.ts'
import type { Operation } from '../../domain/words.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { callKey } from './call-key.ts'
import { canonicalBody } from './canonical-body.ts'

const catalogue = createCatalogue()

function keyOf(operation: Operation, body: Record<string, unknown>, place?: number): string {
  const contract = catalogue.of(operation)
  return callKey(contract, canonicalBody(contract, body), place)
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the key of a call', () => {
  it('of a search is a digest of filters and size, and the page', () => {
    const digest = sha256('{"domains":["acme.example"],"per_page":25}')
    const body = { per_page: 25, domains: ['www.acme.example'] }
    expect(keyOf('job.search', { ...body, page: 2 }, 2)).toBe(`job.search|v1:${digest}|2`)
    expect(keyOf('job.search', body)).toBe(`job.search|v1:${digest}|1`)
    expect(keyOf('job.search', { ...body, per_page: 24 })).not.toContain(digest)
  })

  it('of a document is the digest alone, and of a list of the account has its page', () => {
    expect(keyOf('hiring.insights', { domain: 'Acme.example' })).toBe(
      `hiring.insights|v1:${sha256('{"domain":"acme.example"}')}`,
    )
    expect(keyOf('monitor.list', {}, 2)).toBe(`monitor.list|v1:${sha256('{}')}|2`)
  })

  it('of an action holds method and path, and its repetition', () => {
    const body = { monitor_id: '7', name: 'x' }
    expect(keyOf('monitor.update', body)).toBe(
      `monitor.update|v1:${sha256('["PATCH","/monitors/{monitor_id}",{"monitor_id":"7","name":"x"}]')}|1`,
    )
    expect(keyOf('monitor.update', body, 2)).toMatch(/\|2$/)
  })

  it.each<[Operation, Record<string, unknown>, string]>([
    [
      'company.profile',
      { profnet_url: 'https://de.profnet.com/company/Acmé/' },
      'company.profile|profnet.com/company/acmé',
    ],
    ['company.lookup', { domain: 'https://shop.acme.example' }, 'company.lookup|acme.example'],
    [
      'company.enrich',
      { profnet_url: 'profnet.com/company/acme' },
      'company.enrich|profnet.com/company/acme',
    ],
    ['company.lookup', { domain_search_id: ' d-1 ' }, 'company.lookup|domain_search_id:d-1'],
    [
      'company.lookup',
      { tiktok_url: 'https://m.tiktok.com/@Acme' },
      'company.lookup|tiktok_url:tiktok.com/@acme',
    ],
    ['company.logo', { domain: 'https://www.shop.acme.example/x' }, 'company.logo|shop.acme.example'],
    ['person.profile', { profnet_url: 'profnet.com/in/Ann' }, 'person.profile|profnet.com/in/ann'],
    ['contact.lookup', { email: 'Ann@acme.example' }, 'contact.lookup|email:ann@acme.example'],
    [
      'contact.redeem',
      { profnet_url: 'profnet.com/in/Ann', people_contact_types: ['phone'] },
      'contact.redeem|profnet.com/in/ann|phone',
    ],
    [
      'contact.redeem',
      { people_search_id: 'p1', people_contact_types: ['phone'] },
      'contact.redeem|id:p1|phone',
    ],
    ['person.lookup', { phone: '+49 30 1234567' }, 'person.lookup|phone:+49301234567'],
    [
      'person.lookup',
      { people_search_id: 'p1', is_enrichment_available: true },
      'person.lookup|id:p1|enriched',
    ],
    [
      'person.lookup',
      { profnet_url: 'profnet.com/in/Ann', is_enrichment_available: false },
      'person.lookup|profnet.com/in/ann',
    ],
  ])('of a lookup is the one that the planner gives: %s %j', (operation, body, key) => {
    expect(keyOf(operation, body)).toBe(key)
  })

  it('of another path is never the one of a record', () => {
    const body = { domain: 'acme.example', $path: '/other' }
    expect(keyOf('company.lookup', body)).toMatch(/^company\.lookup\|v1:[0-9a-f]{64}$/)
  })

  it('refuses several contact types in one lookup, because each is bought by itself', () => {
    const body = { people_search_id: 'p1', people_contact_types: ['phone', 'email-work'] }
    expect(() => keyOf('contact.redeem', body)).toThrow('each is bought and kept by itself')
  })
})

// Property: all spellings of one search have one key, and no two searches share one.
describe('spellings of searches', () => {
  const count = sized(1_000, 200)
  const of = sized(100, 20)

  it(`gives ${of} keys to ${count} spellings of ${of} searches`, () => {
    const different = differentSearches(of, testSeed())
    expect(different).toHaveLength(of)
    const keys = different.map((each, index) => {
      const spelt = spellingsOf(each, count / of, testSeed() + index)
      const own = new Set([each, ...spelt].map((body) => keyOf('people.search', body)))
      const bodies = new Set([each, ...spelt].map((body) => JSON.stringify(body)))
      expect(bodies.size).toBeGreaterThan(1)
      expect([...own]).toHaveLength(1)
      return [...own][0]
    })
    expect(new Set(keys).size).toBe(of)
  })
})
