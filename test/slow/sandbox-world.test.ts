import { beforeEach, describe, expect, test } from 'vitest'
import { personUrl } from '../../src/sandbox/data/contacts.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { createBuyer } from '../integration/x402-buyer.ts'
import { useWorld, type Page } from '../integration/sandbox-world.fixture.ts'

const service = useWorld()
const { world, ask } = service
const page = (path: string, body?: unknown) => service.page(path, body)
const total = (path: string, body?: unknown) => service.total(path, body)
const DAY = '2026-11-22'
beforeEach(() => world.sandbox.clock.set(new Date(`${DAY}T12:00:00Z`)))

const searches = {
  '/people/search': ['peoples', 'people_search_id'],
  '/companies/search': ['companies', 'domain_search_id'],
  '/jobs/search': ['jobs', 'job_search_id'],
  '/news/search': ['news', 'news_search_id'],
  '/advertisements/search': ['advertisements', 'advertisement_search_id'],
  '/clouds/search': ['clouds', 'cloud_search_id'],
  '/expansions/search': ['expansions', 'expansion_id'],
  '/expansions/lookup': ['expansions', 'expansion_id'],
  '/expansions/signals/search': ['signals', 'signal_id'],
} as const

describe.each(Object.entries(searches))('%s', (path, [rows, id]) => {
  test('turns pages of rows with ids, and has an empty one behind the last', async () => {
    const { data, metadata } = await page(path, { per_page: 20, nonsense: 1 })
    const ids = data[rows]!.map((row) => row[id])
    expect(new Set(ids).size).toBe(20)
    expect(metadata).toMatchObject({ ignored_fields: ['nonsense'] })
    expect(metadata.profile.total_credit_cost).toBeGreaterThan(0)
    const second = await page(path, { per_page: 10, page: 2 })
    expect(second.data[rows]!.map((row) => row[id])).toEqual(ids.slice(10))
    const narrow = { domains: ['amber-analytics.example'], page: 100 }
    expect((await page(path, narrow)).data).toMatchObject({ [rows]: [] })
    expect((await page(path, { domains: ['nobody.example'] })).data.pagination).toMatchObject({
      total_entries: 0,
      total_pages: 0,
    })
  })

  test('refuses what is above the plan, and values of another type', async () => {
    expect(await ask(path, { per_page: 26 })).toMatchObject({ status: 416, body: { code: 41675 } })
    expect(await ask(path, { page: 101 })).toMatchObject({ status: 416, body: { code: 41676 } })
    expect(await ask(path, { domains: 'x.example' })).toMatchObject({ status: 400, body: { code: 40001 } })
  })
})

test('every search takes at most twenty times the processor time of a lookup, once its day is known', async () => {
  const lookupMs = await leastOf(() => page('/companies/lookup', { domain: 'amber-analytics.example' }))
  for (const path of Object.keys(searches)) {
    const times = (await leastOf((turn) => page(path, { page: turn }))) / lookupMs
    expect({ path, times }).toEqual({ path, times: expect.toSatisfy((most: number) => most < 20) })
  }
})

/** Milliseconds of processor time, the least of twenty: the first ones fill the day, and what else runs in the process counts too. */
async function leastOf(work: (turn: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let turn = 1; turn <= 20; turn++) {
    const before = process.cpuUsage()
    await work(turn)
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
  }
  return Math.min(...times)
}

test('a search is paid for by x402 too, for the price of its own', async () => {
  const buyer = await world.funded()
  const { reply } = await buyer.buy(`${world.sandbox.serviceUrl}/expansions/lookup`, { tos: ['ES'] })
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({ metadata: { profile: { total_credit_cost: 2 } } })
  expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([20_000n])
  expect(world.sandbox.stats().byEndpoint['expansions_lookup']).toBeGreaterThan(0)
})

describe('an expansion into Spain', () => {
  test('has the Spanish rows that are its signals, and its company comes from where it says', async () => {
    const { data } = await page('/expansions/search', { tos: ['Spain'] })
    const kinds = new Map<string, number>()
    for (const expansion of data['expansions']!.slice(0, 3)) {
      expect(expansion).toMatchObject({ to: 'ES' })
      const domains = [expansion['domain'] as string]
      const company = await page('/companies/lookup', { domain: domains[0] })
      expect((company.data as unknown as { country_codes: string[] }).country_codes[0]).toBe(
        expansion['from'],
      )
      const found = await page('/companies/search', { domains })
      expect(found.data['companies']![0]).toMatchObject({ country_code: expansion['from'] })

      const signals = await page('/expansions/signals/search', { expansion_id: expansion['expansion_id'] })
      expect(signals.data['signals']!.length).toBe(Math.min(25, expansion['signal_count'] as number))
      for (const signal of signals.data['signals']!) {
        expect(signal).not.toHaveProperty('occurs_at')
        const [key, id] = Object.entries(signal['evidence'] as Record<string, string>)[0]!
        const place = { job: 'jobs', news: 'news', advertisement: 'advertisements', cloud: 'clouds' }[
          key.replace('_search_id', '')
        ]
        if (place === undefined) continue
        const rows = await all(`/${place}/search`, { domains }, place)
        const row = rows.find((each) => each[key] === id)!
        expect(JSON.stringify(row)).toContain('"ES"')
        kinds.set(place, (kinds.get(place) ?? 0) + 1)
      }
    }
    expect(kinds.size).toBeGreaterThan(2)
  })

  async function all(path: string, body: object, rows: string) {
    const found: Record<string, unknown>[] = []
    for (let number = 1; ; number++) {
      const { data } = await page(path, { ...body, page: number })
      found.push(...data[rows]!)
      if (number >= data.pagination['total_pages']!) return found
    }
  }

  test('is found by a sentence, and said how it was read', async () => {
    const { metadata, data } = await page('/expansions/search', {
      query: 'German companies hiring in Spain',
      is_explain_match: true,
    })
    expect(metadata).toMatchObject({
      interpreted_filters: { froms: ['DE'], tos: ['ES'], signal_types: ['hiring'] },
    })
    for (const row of data['expansions']!) {
      expect(row).toMatchObject({ from: 'DE', to: 'ES' })
      const [first] = row['match_explanations'] as { signal_id: string }[]
      expect(first!.signal_id).toMatch(/^sg-/)
    }
    expect(await total('/expansions/lookup', { froms: ['de'], tos: ['es'], signal_types: ['hiring'] })).toBe(
      data.pagination['total_entries'],
    )
  })

  test('moves with the clock, which another process can set', async () => {
    const ids = async () =>
      JSON.stringify((await page('/expansions/search', { tos: ['ES'], sort_by: 'recent' })).data)
    const before = await ids()
    const set = async (order: object) =>
      (
        await fetch(`${world.sandbox.serviceUrl}/_sandbox/clock`, {
          method: 'POST',
          body: JSON.stringify(order),
        })
      ).json() as Promise<{ at?: string }>
    expect(await set({ advanceDays: 60 })).toEqual({ at: '2027-01-21T12:00:00.000Z', detections: 0 })
    expect(await ids()).not.toBe(before)
    expect(await set({ at: DAY })).toEqual({ at: `${DAY}T00:00:00.000Z`, detections: 0 })
    expect(await ids()).toBe(before)
    expect(await set({ at: 'tomorrow' })).toHaveProperty('error')
  })
})

describe('filters of expansions', () => {
  test('that nothing fits are given up by search, and never by lookup', async () => {
    const nothing = { tos: ['ES'], froms: ['UA'], freshness: ['fresh'], signal_types: ['unheard'] }
    const { data, metadata } = await page('/expansions/search', nothing)
    expect(metadata).toMatchObject({ loosened_filters: expect.arrayContaining(['signal_types']) })
    for (const row of data['expansions']!) {
      expect(row).toMatchObject({ from: 'UA', to: 'ES', is_loosened_match: true })
    }
    const looked = await page('/expansions/lookup', nothing)
    expect(looked.data.pagination['total_entries']).toBe(0)
    expect(looked.metadata).not.toHaveProperty('loosened_filters')
  })

  test('of words that nobody knows are dropped, or match nothing', async () => {
    const everything = await total('/expansions/lookup')
    for (const name of ['stages', 'freshness', 'polarity']) {
      expect(await total('/expansions/lookup', { [name]: ['unheard'] })).toBe(everything)
    }
    for (const name of ['signal_types', 'signal_strengths', 'momentum', 'froms', 'tos']) {
      expect(await total('/expansions/lookup', { [name]: ['unheard'] })).toBe(0)
    }
    const scaling = await total('/expansions/lookup', { stages: ['scaling'] })
    expect(scaling).toBeGreaterThan(100)
    expect(await total('/expansions/lookup', { stages: ['Scaling', 'retreating', 'new'] })).toBe(scaling)
  })

  test('the default order puts moves first that several types of signal bear out', async () => {
    const { data } = await page('/expansions/search', {})
    const types = data['expansions']!.map((row) => (row['signal_types'] as string[]).length)
    expect(types).toEqual([...types].sort((a, b) => b - a))
    const recent = await page('/expansions/search', { sort_by: 'recent' })
    const days = recent.data['expansions']!.map((row) => row['latest_signal_at'] as string)
    expect(days).toEqual([...days].sort().reverse())
    expect(days[0]).toBe(DAY)
  })
})

describe('filters of the other searches', () => {
  test('functions and reach tiers are read as the only entry that has all words, and else find nothing', async () => {
    const human = await total('/jobs/search', { functions: ['Human Resources'] })
    expect(human).toBeGreaterThan(1000)
    expect(await total('/jobs/search', { functions: ['human-resources'] })).toBe(human)
    expect(await total('/jobs/search', { functions: ['resources'] })).toBe(human)
    expect(await total('/jobs/search', { functions: ['and'] })).toBe(0)
    expect(await total('/jobs/search', { seniority_ranks: ['entry'] })).toBeGreaterThan(1000)
    expect(await total('/advertisements/search', { reach_tiers: ['huge'] })).toBe(0)
    expect(await total('/advertisements/search', { reach_tiers: ['10K - 100K'] })).toBeGreaterThan(100)
  })

  test('dates are inclusive, order turns around, and places are left out', async () => {
    const { data } = await page('/jobs/search', { launch_dates: { from: '2026-11-20', to: '2026-11-21' } })
    for (const row of data['jobs']!) expect(['2026-11-20', '2026-11-21']).toContain(row['launch_date'])
    const oldest = await page('/jobs/search', { is_ascending_order: true })
    expect(oldest.data['jobs']![0]!['launch_date']).not.toBe(DAY)
    const madrid = await page('/jobs/search', { location_ids: ['loc-es-madrid'] })
    expect(madrid.data['jobs']!.every((row) => row['location'] === 'Madrid')).toBe(true)
    expect(await total('/jobs/search', { location_ids: ['loc-es'], job_exclude_locations: ['Spain'] })).toBe(
      0,
    )
    for (const wrong of [{ from: '20.11.2026' }, { from: '2026-13-01' }, { since: DAY }, DAY]) {
      expect(await ask('/jobs/search', { launch_dates: wrong })).toMatchObject({ status: 400 })
    }
  })

  test('news carry expansion signals only if asked to', async () => {
    const { data } = await page('/news/search', { is_expansion_signal_available: true })
    expect(data['news']!.every((row) => Array.isArray(row['expansion_signals']))).toBe(true)
    expect(data['news']!.some((row) => (row['expansion_signals'] as []).length > 0)).toBe(true)
    const [first] = (await page('/news/search')).data['news']!
    expect(first).not.toHaveProperty('expansion_signals')
    const one = await page('/news/search', { news_search_id: first!['news_search_id'] })
    expect(one.data['news']).toEqual([first])
  })

  test('advertisements tell which sources they looked at', async () => {
    const { data, metadata } = await page('/advertisements/search', {
      source_types: ['tiktok', 'apple', 'billboard'],
      advertisement_target_locations: ['ES'],
    })
    expect(metadata).toMatchObject({
      applied_source_types: ['tiktok'],
      unsupported_source_types: ['billboard'],
      skipped_source_types: ['apple'],
      coverage_notes: ['apple has no data for the target locations'],
    })
    expect(data['advertisements']!.length).toBeGreaterThan(0)
    for (const row of data['advertisements']!) {
      expect(row).toMatchObject({ source_type: 'tiktok', target_locations: ['ES'] })
    }
  })

  test('companies by what they are and do', async () => {
    const body = {
      countries: ['JP'],
      industries: ['biotechnology'],
      sizes: ['51-200'],
      social_media: ['tiktok'],
      advertisement_status: 'active',
    }
    const { data } = await page('/companies/search', {
      ...body,
      advertisement_status: ['active', 'inactive'],
    })
    expect(data['companies']!.length).toBeGreaterThan(0)
    for (const row of data['companies']!) {
      expect(row).toMatchObject({ country_code: 'JP', unformatted_company_size: '51-200 employees' })
      expect(row['tiktok_url']).toMatch(/tiktok/)
    }
    const active = await page('/companies/search', { advertisement_status: 'active' })
    const domains = active.data['companies']!.map((row) => row['domain'])
    const running = await total('/advertisements/search', { domains, active_dates: { from: DAY, to: DAY } })
    expect(running).toBeGreaterThanOrEqual(25)
    expect(await total('/companies/search', { company_exclude_locations: ['US'] })).toBeLessThan(20_000)
  })
})

test('a network of another name stands in the keys of searches, and in no value', async () => {
  const own = await startSandbox({ networkName: 'guild' })
  const post = async (path: string, body: object) => {
    const headers = { [API_KEY_HEADER]: API_KEY }
    return (await createBuyer().ask(`${own.serviceUrl}${path}`, body, headers)).body as Page
  }
  try {
    const found = await post('/people/search', { per_page: 1 })
    const url = found.data['peoples']![0]!['guild_url']
    expect(url).toBe(personUrl(member(0).unknown ? member(1).slug : member(0).slug))
    const similar = await post('/people/search/similar', { guild_url: url, profnet_url: url })
    expect(similar.metadata['ignored_fields']).toEqual(['profnet_url'])
    expect(similar.data['peoples']!.length).toBeGreaterThan(0)
    const companies = await post('/companies/search', { per_page: 1 })
    expect(companies.data['companies']![0]).toHaveProperty('guild_url')
  } finally {
    await own.stop()
  }
})
