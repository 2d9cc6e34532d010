import { describe, expect, test } from 'vitest'
import { createCatalogue } from './catalogue/catalogue.ts'
import { batchGroup, batchSize, prepareBatch, prepareQuery, resumeBatch } from './batch.ts'

const base = 'https://service.example/'
const ada = { email: 'ada@a.example' }
const bo = { first_name: 'Bo', last_name: 'Ek', domain: 'https://www.b.example/x' }

describe('lookups share a batch request', () => {
  test('when the values that are sent once are the same', () => {
    const group = (request: Record<string, unknown>) => batchGroup('contact.lookup', request)
    expect(group(ada)).toBe(group(bo))
    expect(group({ ...ada, is_enable_similarity_search: true })).toBe(
      group({ ...bo, is_enable_similarity_search: 'true' }),
    )
    expect(group({ ...ada, is_enable_similarity_search: true })).not.toBe(group(bo))
    const redeem = (request: Record<string, unknown>) => batchGroup('contact.redeem', request)
    expect(redeem({ people_search_id: 'a', people_contact_types: ['phone', 'email-work'] })).toBe(
      redeem({ people_search_id: 'b', people_contact_types: ['email-work', 'phone'] }),
    )
    expect(
      redeem({ profnet_url: 'https://profnet.example/in/a', people_contact_types: ['phone'] }),
    ).toBeUndefined()
    expect(redeem({ people_search_id: 'a', people_contact_types: ['fax'] })).toBeUndefined()
    expect(batchGroup('company.profile', { profnet_url: 'x' })).toBeUndefined()
  })

  test('up to the maximum of the endpoint or of the settings', () => {
    expect(batchSize('contact.lookup')).toBe(100)
    expect(batchSize('contact.lookup', 20)).toBe(20)
    expect(batchSize('contact.lookup', 1000)).toBe(100)
    expect(batchSize('company.profile')).toBe(1)
  })
})

describe('a batch request', () => {
  test('holds each input once, leaves out entries that cannot be searched for, and uses the configured path', () => {
    const prepared = prepareBatch(
      base,
      'contact.lookup',
      [
        { ...ada, is_enable_similarity_search: true },
        { first_name: 'x', is_enable_similarity_search: true },
        { email: 'ADA@a.example', is_enable_similarity_search: true },
        { ...bo, is_enable_similarity_search: true },
      ],
      { catalogue: createCatalogue({}, { contactLookupBatch: '/v9/contacts' }) },
    )
    expect(prepared).toMatchObject({
      operation: 'contact.lookup',
      endpoint: 'POST https://service.example/v9/contacts (2 entries)',
      url: 'https://service.example/v9/contacts',
      sent: [[0, 2], [3]],
      skipped: [{ index: 1, reason: expect.stringContaining('nothing to search by') }],
    })
    expect(JSON.parse(prepared.body)).toEqual({
      peoples: [ada, { ...bo, domain: 'b.example' }],
      is_enable_similarity_search: true,
    })
    const body = JSON.stringify({ data: { peoples: [{ match: { input_index: 1 }, people_search_id: 'b' }] } })
    const facts = prepared.decode(body)
    expect([0, 2, 3].map((index) => facts.get(index)?.outcome)).toEqual(['not_found', 'not_found', 'found'])

    const resumed = resumeBatch(base, 'contact.lookup', prepared.request)
    expect([...resumed.decode(body)].map(([index, { outcome }]) => [index, outcome])).toEqual([
      [0, 'not_found'],
      [1, 'found'],
    ])
  })

  test('bears the names of the settings in what is sent once and in each entry, and is read by those of the catalogue', () => {
    const catalogue = createCatalogue({
      'contact.lookup': {
        path: '/v9/contact',
        rename: { domain: 'company_domain', email: 'mail', is_enable_similarity_search: 'similar' },
      },
    })
    const requests = [ada, bo].map((each) => ({ ...each, is_enable_similarity_search: true }))
    const prepared = prepareBatch(base, 'contact.lookup', requests, { catalogue })
    // The path of single requests is another setting than that of batches.
    expect(prepared.url).toBe('https://service.example/redeem/people/contact/lookup/batch')
    expect(JSON.parse(prepared.body)).toEqual({
      peoples: [
        { mail: 'ada@a.example' },
        { first_name: 'Bo', last_name: 'Ek', company_domain: 'b.example' },
      ],
      similar: true,
    })
    // A later process may have other settings: the ledger keeps the catalogue's own names.
    expect(prepared.request).toEqual({
      peoples: [ada, { ...bo, domain: 'b.example' }],
      is_enable_similarity_search: true,
    })
    const resumed = resumeBatch(base, 'contact.lookup', prepared.request, { catalogue })
    expect(resumed.body).toBe(prepared.body)
    expect(resumed.endpoint).toBe(prepared.endpoint)
    const answer = JSON.stringify({
      data: { peoples: [{ match: { input_index: 1 }, people_search_id: 'b' }] },
    })
    expect([...resumed.decode(answer).values()].map(({ outcome }) => outcome)).toEqual(['not_found', 'found'])
  })

  test('of ids has renamed keys too, and its answer is asked for at the path of the settings', () => {
    const catalogue = createCatalogue(
      { 'contact.redeem': { method: 'PUT', rename: { people_contact_types: 'types' } } },
      { redemptionBatch: '/v9/redeem', redemptionBatchQuery: '/v9/redeem/answer' },
    )
    const wanted = { people_search_id: 'a', people_contact_types: ['phone'] }
    const prepared = prepareBatch(base, 'contact.redeem', [wanted], { catalogue })
    expect(prepared).toMatchObject({
      endpoint: 'PUT https://service.example/v9/redeem (1 people, phone)',
      method: 'PUT',
      body: '{"peoples":["a"],"types":["phone"]}',
    })
    expect(prepareQuery(base, 'contact.redeem', 'q', { catalogue })).toMatchObject({
      method: 'PUT',
      url: 'https://service.example/v9/redeem/answer',
    })
  })

  test('without a searchable entry is never made', () => {
    expect(() => prepareBatch(base, 'contact.lookup', [{}, { first_name: 'x' }])).toThrow(
      expect.objectContaining({ name: 'InputError', code: 'nothing_searchable' }),
    )
    expect(() => prepareBatch(base, 'contact.lookup', [])).toThrow(
      expect.objectContaining({ code: 'nothing_searchable' }),
    )
  })

  test('of mixed settings, of too many entries, or of an operation without one is refused', () => {
    const mixed = [ada, { ...bo, is_enable_similarity_search: true }]
    expect(() => prepareBatch(base, 'contact.lookup', mixed)).toThrow(
      expect.objectContaining({ code: 'mixed_batch' }),
    )
    expect(() => prepareBatch(base, 'contact.lookup', [ada, bo], { max: 1 })).toThrow(
      expect.objectContaining({ code: 'batch_too_large' }),
    )
    expect(() => prepareBatch(base, 'company.profile', [{}])).toThrow(
      expect.objectContaining({ name: 'ConfigError' }),
    )
    expect(() => prepareQuery(base, 'contact.lookup', 'q')).toThrow(
      expect.objectContaining({ code: 'no_query' }),
    )
  })

  test('of redemptions sends only ids and reports a person without one', () => {
    const types = { people_contact_types: ['phone'] }
    const prepared = prepareBatch(base, 'contact.redeem', [
      { people_search_id: 'a', ...types },
      { profnet_url: 'https://profnet.example/in/b', ...types },
      { people_search_id: 'a', ...types },
    ])
    expect(JSON.parse(prepared.body)).toEqual({ peoples: ['a'], people_contact_types: ['phone'] })
    expect(prepared.sent).toEqual([[0, 2]])
    expect(prepared.skipped).toEqual([{ index: 1, reason: 'it can only be sent alone' }])
    expect(prepareQuery(base, 'contact.redeem', 'q')).toMatchObject({
      url: 'https://service.example/redeem/people/batch/query',
      body: '{"redeem_query_id":"q"}',
    })
  })
})
