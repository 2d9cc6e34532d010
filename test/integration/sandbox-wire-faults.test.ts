import { Mppx } from 'mppx/client'
import { charge } from 'mppx/evm/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, test } from 'vitest'
import { TOKEN_DOMAIN } from '../../src/sandbox/chain/token.ts'
import { useWorld } from './sandbox-world.fixture.ts'

const { world, ask, page } = useWorld()
const url = (path: string) => `${world.sandbox.serviceUrl}${path}`
const SUMMARY = { domain: 'amber-analytics.example' }
afterEach(() => void world.sandbox.clock.set(null))

describe('a service that is another than the one described', () => {
  test('bears other names in its answers, in one search and not in others', async () => {
    world.sandbox.faults.set({
      renamedFields: [{ only: ['jobs_search'], place: 'data.pagination.total_entries', to: 'total_count' }],
    })
    expect((await page('/jobs/search')).data.pagination).toHaveProperty('total_count')
    expect((await page('/jobs/search')).data.pagination).not.toHaveProperty('total_entries')
    expect((await page('/news/search')).data.pagination).toHaveProperty('total_entries')
  })

  test('drops a filter, and says so or does not', async () => {
    const filter = { functions: ['Sales'] }
    const sales = (await page('/jobs/search', filter)).data.pagination['total_entries']!
    const everything = (await page('/jobs/search')).data.pagination['total_entries']!
    expect(sales).toBeLessThan(everything / 5)
    for (const silent of [false, true]) {
      world.sandbox.faults.set({ droppedFilters: [{ key: 'functions', silent }] })
      const { data, metadata } = await page('/jobs/search', filter)
      expect(data.pagination['total_entries']).toBe(everything)
      expect(metadata['ignored_fields']).toEqual(silent ? undefined : ['functions'])
    }
  })

  test('knows a parameter by another name, follows the old one or not, and tells', async () => {
    const rename = (isFollowed: boolean) =>
      world.sandbox.faults.set({
        renamedKeys: [{ only: ['jobs_search'], from: 'domains', to: 'company_domains', isFollowed }],
      })
    const nobody = { domains: ['nobody.example'] }
    rename(false)
    const lost = await page('/jobs/search', nobody)
    expect(lost.data.pagination['total_entries']).toBeGreaterThan(1000)
    expect(lost.metadata).toMatchObject({
      ignored_fields: ['domains'],
      renamed_fields: [{ from: 'domains', to: 'company_domains' }],
    })
    const renamed = await page('/jobs/search', { company_domains: ['nobody.example'] })
    expect(renamed.data.pagination['total_entries']).toBe(0)
    expect(renamed.metadata).not.toHaveProperty('renamed_fields')
    rename(true)
    const followed = await page('/jobs/search', nobody)
    expect(followed.data.pagination['total_entries']).toBe(0)
    expect(followed.metadata).not.toHaveProperty('ignored_fields')
  })

  test('refuses paths at the door, one or all that begin alike, and counts even those that nothing serves', async () => {
    world.sandbox.faults.set({
      refusedPaths: { '/jobs/search': 401, '/expansions/*': 404, '/news/search': 403 },
    })
    expect((await ask('/jobs/search', {})).status).toBe(401)
    expect((await ask('/news/search', {})).status).toBe(403)
    expect((await ask('/expansions/search', {})).status).toBe(404)
    expect((await ask('/expansions/summary', {})).status).toBe(404)
    expect((await ask('/clouds/search', {})).status).toBe(200)
    const before = world.sandbox.stats()
    expect((await ask('/no/such/path', {})).status).toBe(404)
    const after = world.sandbox.stats()
    expect(after.requests).toBe(before.requests + 1)
    expect(after.byEndpoint.elsewhere).toBe((before.byEndpoint.elsewhere ?? 0) + 1)
    expect(after.byEndpoint.expansions_summary).toBeGreaterThan(0)
  })

  test('is paid for answers that cannot be read', async () => {
    const buyer = await world.funded()
    world.sandbox.faults.set({ unreadable: { only: ['clouds_search'], share: 1 } })
    const { reply } = await buyer.buy(url('/clouds/search'), {})
    expect(reply).toMatchObject({ status: 200, body: expect.stringContaining('<html>') })
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('has another last page than its plan says', async () => {
    world.sandbox.faults.set({ searchLimits: { page: 2, pageCode: 41692 } })
    expect((await ask('/jobs/search', { page: 2 })).status).toBe(200)
    expect(await ask('/jobs/search', { page: 3 })).toMatchObject({ status: 416, body: { code: 41692 } })
    const profile = (await page('/profile')).data as unknown as Record<string, number>
    expect(profile['max_search_page']).toBe(100)
  })
})

describe('a summary that is not completed in time', () => {
  test.each([
    ['is settled with its answer', false],
    ['is settled before, and the payment buys the later answer', true],
  ])('%s: three times 408, one charge, one transfer', async (_, settles) => {
    const buyer = await world.funded()
    world.sandbox.faults.set({ summaryTimeout: { next: 3, settles } })
    const { reply, headers } = await buyer.buy(url('/expansions/summary'), SUMMARY)
    expect(reply.status).toBe(408)
    expect(await buyer.transfers()).toHaveLength(settles ? 1 : 0)
    const again = async () => buyer.ask(url('/expansions/summary'), SUMMARY, headers)
    expect([(await again()).status, (await again()).status]).toEqual([408, 408])
    const answered = await again()
    expect(answered.status).toBe(200)
    expect(buyer.settlementOf(answered).success).toBe(true)
    expect((await buyer.transfers()).map(({ amountAtomic }) => amountAtomic)).toEqual([50_000n])
    // The payment was accepted once: what it bought is not given away again.
    expect((await again()).status).toBe(402)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test.each([
    ['is settled with its answer', {}, {}],
    ['is settled before', {}, { settles: true }],
    ['is settled before, as the stock server does', { settleFirst: true }, {}],
  ])('%s, by MPP: three times 408, one charge, one transfer', async (_, mpp, timeout) => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp', mpp, summaryTimeout: { next: 3, ...timeout } })
    const account = privateKeyToAccount(generatePrivateKey())
    await world.sandbox.fund(account.address, 100_000n)
    const client = Mppx.create({
      methods: [charge({ account, authorization: TOKEN_DOMAIN })],
      polyfill: false,
    })
    const send = (headers: Record<string, string> = {}) =>
      fetch(url('/expansions/summary'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'paydirt-tests/1', ...headers },
        body: JSON.stringify(SUMMARY),
      })
    const proof = { authorization: await client.createCredential(await send()) }
    const statuses: number[] = []
    for (let turn = 0; turn < 5; turn++) statuses.push((await send(proof)).status)
    expect(statuses).toEqual([408, 408, 408, 200, 402])
    expect(await world.sandbox.transfersFrom(account.address)).toMatchObject([{ amountAtomic: 50_000n }])
  })

  test('is charged once to an API key, on success only', async () => {
    const spent = () => world.sandbox.account('sandbox-key')!.usage['expansions_summary']?.credits ?? 0
    const before = spent()
    world.sandbox.faults.set({ summaryTimeout: { next: 2 } })
    for (const status of [408, 408]) expect((await ask('/expansions/summary', SUMMARY)).status).toBe(status)
    expect(spent()).toBe(before)
    expect((await ask('/expansions/summary', SUMMARY)).status).toBe(200)
    expect(spent()).toBe(before + 5)
  })
})
