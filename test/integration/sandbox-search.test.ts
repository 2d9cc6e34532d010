import { describe, expect, test } from 'vitest'
import { createTransport } from '../../src/service/transport.ts'
import type { ServiceRequest } from '../../src/domain/ports/transport.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { warningsOf } from '../../src/service/schema/metadata.ts'
import { prepareBatch, prepareQuery } from '../../src/service/batch.ts'
import { prepareRequest } from '../../src/service/client.ts'
import { searchIdOf } from '../../src/sandbox/data/contact-answer.ts'
import { companyByDomain } from '../../src/sandbox/data/company-by-domain.ts'
import { personUrl } from '../../src/sandbox/data/contacts.ts'
import { employersAt } from '../../src/sandbox/data/directory.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { company, PRICE } from './sandbox-fixture.ts'
import {
  useContacts,
  withPhone,
  withAll,
  atDomain,
  type Matched,
  peoples,
  cost,
  slugs,
} from './sandbox-contacts.fixture.ts'

const { world, direct, single, bulk, ask } = useContacts()

describe('people search', () => {
  const url = () => `${world.sandbox.serviceUrl}/people/search`
  const found = async (filters: object) =>
    (await ask(url(), filters)).body as { data: { pagination: Record<string, number>; peoples: Matched[] } }

  test('turns its pages, and answers 416 behind the limits of the plan', async () => {
    const { data } = await found({ departments: ['Sales'], per_page: 10, page: 2 })
    const { data: both } = await found({ departments: ['Sales'], per_page: 20 })
    expect(data.peoples).toEqual(both.peoples.slice(10))
    expect(data.pagination['total_entries']).toBeGreaterThan(400)
    expect(await ask(url(), { per_page: 25 })).toMatchObject({ status: 200 })
    expect(await ask(url(), { per_page: 26 })).toMatchObject({ status: 416, body: { code: 41675 } })
    expect(await ask(url(), { page: 100 })).toMatchObject({ status: 200 })
    expect(await ask(url(), { page: 101 })).toMatchObject({ status: 416, body: { code: 41676 } })
    expect(await ask(url(), { page: 0 })).toMatchObject({ status: 400, body: { code: 40001 } })
  })

  test('reads values without case, spaces and punctuation, a short form as its only entry, and nothing as nobody', async () => {
    const total = async (filters: object) => (await found(filters)).data.pagination['total_entries']
    const human = await total({ departments: ['Human Resources'] })
    expect(human).toBeGreaterThan(400)
    for (const value of ['human-resources', ' HUMANRESOURCES ', 'Resources']) {
      expect(await total({ departments: [value] })).toBe(human)
    }
    // Two entries have the word, so it names neither.
    expect(await total({ departments: ['and'] })).toBe(0)
    expect(await total({ departments: ['Astrology'] })).toBe(0)
    expect(await total({ exclude_departments: ['Astrology'] })).toBe(await total({}))
    const levels = await total({ management_levels: ['c level'] })
    expect(levels).toBeGreaterThan(400)
    expect(await total({ management_levels: ['c level'], domains: ['no-firm.example'] })).toBe(0)
  })

  test('does not refuse an unknown type of contact: no e-mails, and no cost', async () => {
    const reply = await ask(url(), { people_contact_types: ['fax'], per_page: 2 })
    expect(peoples(reply).map((each) => (each as { emails?: unknown }).emails)).toEqual([null, null])
    expect(cost(reply)).toBe(0)
  })
})

describe('a company by its domain', () => {
  test('is the one of the profile, and one that nobody knows is null', async () => {
    const buyer = await world.funded()
    const { domain, slug } = employersAt('amber-analytics.example')[0]!
    const { reply } = await buyer.buy(`${world.sandbox.serviceUrl}/companies/lookup`, {
      domain: `https://www.${domain}`,
    })
    expect((reply.body as { data: unknown }).data).toEqual(world.answerFor(company(slug)).data)
    const missing = await buyer.buy(`${world.sandbox.serviceUrl}/companies/lookup`, {
      domain: 'acme-missing.example',
    })
    expect(missing.reply.body).toMatchObject({ data: null, metadata: { profile: { total_credit_cost: 1 } } })
    expect(companyByDomain('customer-of-ours.com').data?.domain).toBe('customer-of-ours.com')
  })

  test('is enriched with its rows, as late as the switch says', async () => {
    world.sandbox.faults.set({ enrichmentLatency: { minMs: 150, maxMs: 150 } })
    const request = prepareRequest(world.sandbox.serviceUrl, 'company.enrich', {
      domain: 'amber-analytics.example',
    })
    expect(request.timeoutMs).toBe(90_000)
    const buyer = await world.funded()
    const startedAt = performance.now()
    const { reply } = await buyer.buy(request.url, request.body)
    expect(performance.now() - startedAt).toBeGreaterThan(149)
    const fact = request.decode(JSON.stringify(reply.body))
    expect(fact.outcome).toBe('found')
    for (const rows of ['jobs', 'news', 'advertisements', 'similar_companies']) {
      expect(Array.isArray(fact.data?.[rows])).toBe(true)
    }
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([5n * PRICE])
  })
})

describe('what the service says of a request', () => {
  test('keys that it does not know are named, and nothing is refused for them', async () => {
    const reply = await ask(bulk(), {
      peoples: [{ ...atDomain(withPhone), nickname: 'x' }],
      profile_id: 7,
    })
    expect(slugs(reply)).toEqual([withPhone.slug])
    expect(warningsOf(reply.body)).toEqual([
      { kind: 'ignored', field: 'profile_id' },
      { kind: 'ignored', field: 'peoples.nickname' },
    ])
  })

  test.each([
    ['no body', single, '[]', 400, 40001],
    ['a number for a name', single, { email: 5 }, 400, 40001],
    [
      'a switch that is no boolean',
      single,
      { email: 'a@b.example', is_enable_similarity_search: 'yes' },
      400,
      40001,
    ],
    ['no peoples', bulk, {}, 400, 41847],
    ['peoples that are no list', bulk, { peoples: 'all' }, 400, 40001],
    [
      'more entries than the limit',
      bulk,
      { peoples: Array.from({ length: 101 }, () => ({ email: 'a@b.example' })) },
      416,
      41675,
    ],
  ])('%s', async (_, url, body, status, code) => {
    expect(await ask(url(), body)).toMatchObject({
      status,
      body: { code, message: expect.any(String), details: {} },
    })
  })

  test('redemptions and companies that name nobody', async () => {
    const { serviceUrl } = world.sandbox
    const types = { people_contact_types: ['phone'] }
    for (const [path, body, code] of [
      ['/redeem/people', types, 41847],
      ['/redeem/people', { people_search_id: 'x', ...types }, 40001],
      ['/redeem/people', { people_search_id: searchIdOf('a-b') }, 41847],
      ['/redeem/people/batch', { peoples: [], ...types }, 41847],
      ['/redeem/people/batch', { peoples: [{}], ...types }, 40001],
      ['/redeem/people/batch/query', {}, 41847],
      ['/redeem/people/batch/query', { redeem_query_id: 'rq-none' }, 40001],
      ['/companies/lookup', {}, 41847],
      ['/companies/lookup', { domain: 'no domain' }, 40001],
    ] as const) {
      expect(await ask(`${serviceUrl}${path}`, body)).toMatchObject({ status: 400, body: { code } })
    }
  })
})

test('a network of another name stands in the fields of requests and answers, through our own transport', async () => {
  const own = await startSandbox({ networkName: 'guild' })
  const transport = createTransport({ userAgent: 'paydirt-tests/1', networkName: 'guild' })
  try {
    const send = async (request: Omit<ServiceRequest, 'headers'>) => {
      const headers = { 'content-type': 'application/json', ...direct }
      const { status, body } = await transport.send({ ...request, headers })
      expect(status).toBe(200)
      return body
    }
    const request = prepareRequest(own.serviceUrl, 'contact.redeem', {
      profnet_url: personUrl(withAll.slug),
      people_contact_types: ['phone'],
    })
    const url = personAnswer(personUrl(withAll.slug)).data?.profnet_url
    expect(request.decode(await send(request)).data?.['profnet_url']).toBe(url)

    own.faults.set({ batchPending: 0 })
    const wanted = { people_search_id: searchIdOf(withAll.slug), people_contact_types: ['phone'] }
    const prepared = prepareBatch(own.serviceUrl, 'contact.redeem', [wanted])
    const { queryId } = prepared.started!(await send(prepared))!
    const answer = await send(prepareQuery(own.serviceUrl, 'contact.redeem', queryId))
    expect(prepared.decode(answer).get(0)?.data?.['profnet_url']).toBe(url)
    expect(warningsOf(answer)).toEqual([])
  } finally {
    await transport.close()
    await own.stop()
  }
})
