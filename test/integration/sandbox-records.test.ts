import { beforeEach, describe, expect, test } from 'vitest'
import { personUrl } from '../../src/sandbox/data/contacts.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { useWorld } from './sandbox-world.fixture.ts'

const service = useWorld()
const { world, ask } = service
const page = (path: string, body?: unknown) => service.page(path, body)
const total = (path: string, body?: unknown) => service.total(path, body)
beforeEach(() => world.sandbox.clock.set(new Date('2026-11-22T12:00:00Z')))

describe('people', () => {
  test('are found by every filter, and none of them twice', async () => {
    const everyone = await total('/people/search')
    const there = await total('/people/search', { people_locations: ['FR'] })
    expect(there).toBe(await total('/people/search', { person_locations: ['France'] }))
    expect(await total('/people/search', { exclude_people_locations: ['lyon'] })).toBe(everyone - there)
    const titled = await total('/people/search', { people_titles: ['head of sales'] })
    expect(titled).toBeGreaterThan(100)
    expect(await total('/people/search', { exclude_people_titles: ['Sales Head'] })).toBe(
      everyone - (await total('/people/search', { people_titles: ['sales head'] })),
    )
    const treasury = await total('/people/search', { department_functions: ['TREASURY'] })
    expect(treasury).toBeGreaterThan(50)
    expect(await total('/people/search', { exclude_department_functions: ['treasury'] })).toBe(
      everyone - treasury,
    )
    expect(await total('/people/search', { company_exclude_locations: ['DE'] })).toBeLessThan(everyone)
  })

  test('are similar to a person or a title, by a score, and narrowed by all else', async () => {
    expect(await ask('/people/search/similar', { domains: ['x.example'] })).toMatchObject({
      status: 400,
      body: { code: 41847 },
    })
    const { data } = await page('/people/search', { per_page: 1 })
    const id = data['peoples']![0]!['people_search_id']
    const similar = await page('/people/search/similar', { people_search_id: id, per_page: 5 })
    const scores = similar.data['peoples']!.map((row) => row['similarity_score'] as number)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true)
    expect(similar.data['peoples']!.map((row) => row['people_search_id'])).not.toContain(id)
    const narrow = await page('/people/search/similar', {
      people_titles: ['Founder'],
      people_locations: ['SE'],
    })
    for (const row of narrow.data['peoples']!) expect(row).toMatchObject({ country_code: 'SE' })
    expect(await total('/people/search/similar', { people_titles: ['Founder'] })).toBeGreaterThan(
      narrow.data.pagination['total_entries']!,
    )
  })

  test('are looked up by id or profile, and enriched for more', async () => {
    const { slug } = member(0)
    const stored = await page('/people/lookup', { profnet_url: personUrl(slug) })
    expect(stored.data).not.toHaveProperty('employment_history')
    expect(stored.metadata.profile.total_credit_cost).toBe(1)
    const enriched = await page('/people/lookup', {
      people_search_id: (stored.data as unknown as Record<string, string>)['people_search_id'],
      is_enrichment_available: true,
    })
    expect(enriched.data).toHaveProperty('employment_history')
    expect(enriched.metadata.profile.total_credit_cost).toBe(2)
  })
})

describe('one company', () => {
  const findBy = async (filters: object, key: string) =>
    (await page('/companies/search', filters)).data['companies']!.find((row) => row[key] !== undefined)!

  test('is looked up by each of nine identifiers', async () => {
    for (const [country, key] of [
      ['DE', 'domain'],
      ['DE', 'profnet_url'],
      ['DE', 'domain_search_id'],
      ['BR', 'tiktok_url'],
      ['JP', 'wantedly_url'],
      ['TW', 'tw104_url'],
      ['KR', 'rocketpunch_url'],
      ['KR', 'remember_url'],
      ['JP', 'youtrust_url'],
    ] as const) {
      const row = await findBy({ countries: [country] }, key)
      for (const path of ['/companies/lookup', '/companies/lookup/enrich']) {
        expect((await page(path, { [key]: row[key] })).data).toMatchObject({ domain: row['domain'] })
      }
    }
    expect(
      (await page('/companies/lookup', { tiktok_url: 'https://www.tiktok.com/@nobody' })).data,
    ).toBeNull()
    expect(await ask('/companies/lookup', { tiktok_url: 'nobody' })).toMatchObject({ status: 400 })
  })

  test('is enriched with rows that its searches find', async () => {
    const { data } = await page('/expansions/search', { tos: ['ES'], sort_by: 'recent' })
    const { domain } = data['expansions']!.find(({ domain: each }) => /^\w+-\w+-\w+\./.test(each as string))!
    const enriched = (await page('/companies/lookup/enrich', { domain })).data as unknown as typeof data
    for (const rows of ['jobs', 'news', 'advertisements'] as const) {
      const found = await page(`/${rows}/search`, { domains: [domain] })
      expect(enriched[rows]).toEqual(found.data[rows]!.slice(0, 5))
    }
    expect(enriched['similar_companies']!.length).toBe(3)
  })

  test('has similar ones, which cannot be asked for without a reference', async () => {
    expect(await ask('/companies/search/similar', {})).toMatchObject({ status: 400, body: { code: 41847 } })
    const { data } = await page('/companies/search/similar', { domain: 'amber-analytics.example' })
    expect(data['companies']!.length).toBe(25)
    expect(data['companies']!.map(({ domain }) => domain)).not.toContain('amber-analytics.example')
    const there = await page('/companies/search/similar', {
      domain: 'amber-analytics.example',
      countries: ['SE'],
    })
    for (const row of there.data['companies']!) expect(row).toMatchObject({ country_code: 'SE' })
  })

  test('has insights that count the rows of its searches', async () => {
    const { data } = await page('/expansions/search', { signal_types: ['news'], froms: ['US'] })
    const domains = [data['expansions']![0]!['domain'] as string]
    const [domain] = domains
    const insight = async (path: string) =>
      (await page(path, { domain })).data as unknown as Record<string, Record<string, unknown>[]> & {
        totals: Record<string, unknown>
      }
    const news = await insight('/news/insights')
    expect(news.totals).toMatchObject({
      mentions: await total('/news/search', { domains }),
      topics: expect.any(Number),
      sources: expect.any(Number),
      top_source: expect.any(String),
    })
    expect(news['market_breakdown']!.length).toBeGreaterThan(0)
    const jobs = await insight('/jobs/insights')
    expect(jobs.totals['jobs']).toBe(await total('/jobs/search', { domains }))
    const clouds = await insight('/clouds/insights')
    expect(clouds.totals['footprints']).toBe(await total('/clouds/search', { domains }))
    const active = await page('/companies/search', { advertisement_status: 'active', per_page: 1 })
    const advertiser = active.data['companies']![0]!['domain']
    const advertising = await page('/advertisements/insights', { domain: advertiser })
    const {
      postings,
      reach_tiers: tiers,
      creatives,
    } = advertising.data as unknown as Record<string, object[]>
    expect(Object.keys(postings![0]!)).toEqual(['r', 'm', 'ch', 'fo', 'n'])
    expect(tiers!.map((tier) => Object.keys(tier))).toContainEqual(['slug', 'label'])
    expect(Object.keys(creatives![0]!)).toHaveLength(10)
    expect(await ask('/news/insights', {})).toMatchObject({ status: 400, body: { code: 41847 } })
    expect((await page('/news/insights', { domain: 'customer.com' })).data).toBeNull()
  })

  test('has its expansions in detail, compared, summed up and ranked, lean unless asked otherwise', async () => {
    const { data } = await page('/expansions/search', { per_page: 3 })
    const [first, second, third] = data['expansions']!.map((row) => row['domain_search_id'] as string)
    const detail = await page('/expansions/detail', { domain_search_id: first })
    expect(JSON.stringify(detail)).not.toContain('confidence_score')
    const full = await page('/expansions/detail', { domain_search_id: first, is_include_metadata: true })
    expect(full.data['expansions']![0]).toMatchObject({ confidence_score: expect.any(Number) })
    const compared = await page('/expansions/compare', { domain_search_ids: [first, second] })
    expect(compared.data['companies']!.length).toBe(2)
    const ranked = await page('/expansions/rankings', { domain_search_ids: [first, second, third] })
    expect(ranked.data['rankings']!.map(({ rank }) => rank)).toEqual([1, 2, 3])
    expect((await page('/expansions/rankings', { tos: ['ES'] })).data['rankings']!.length).toBeGreaterThan(10)
    const summary = await page('/expansions/summary', { domain_search_id: first })
    expect((summary.data as unknown as { summary: string }).summary).toContain('new market')
    for (const [path, body, code] of [
      ['/expansions/detail', {}, 41847],
      ['/expansions/compare', {}, 41847],
      ['/expansions/compare', { domain_search_ids: [first] }, 40435],
      ['/expansions/compare', { domain_search_ids: [first, 'ds-nobody.example'] }, 40436],
      ['/expansions/rankings', {}, 41847],
    ] as const) {
      expect(await ask(path, body)).toMatchObject({ status: 400, body: { code } })
    }
  })
})
