import { describe, expect, test } from 'vitest'
import { createPublicClient, http, parseAbi } from 'viem'
import { logoFor } from '../../src/sandbox/data/logo.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { PRICE, company, useSandbox } from '../integration/sandbox-fixture.ts'
import { createBuyer } from '../integration/x402-buyer.ts'

const world = useSandbox()

describe('the logo endpoint', () => {
  const logo = async (path: string) => {
    const response = await fetch(`${world.sandbox.logoUrl}/${path}`)
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      placeholder: response.headers.get('x-logo-placeholder'),
      bytes: Buffer.from(await response.arrayBuffer()),
    }
  }

  test('serves a PNG by domain, with or without www. and protocol', async () => {
    const known = ['a', 'b', 'c', 'd']
      .map((name) => `${name}.example`)
      .find((domain) => !logoFor(domain).placeholder)!
    const plain = await logo(known)
    expect(plain).toMatchObject({ status: 200, type: 'image/png', placeholder: null })
    expect(plain.bytes.subarray(1, 4).toString()).toBe('PNG')
    expect((await logo(`www.${known}`)).bytes).toEqual(plain.bytes)
    expect((await logo(`https://www.${known}`)).bytes).toEqual(plain.bytes)
    expect((await logo(encodeURIComponent(`https://${known}/`))).bytes).toEqual(plain.bytes)
  })

  test('serves the same placeholder for every unknown domain, marked unless switched off', async () => {
    const one = await logo('no-such-firm.invalid')
    expect(one).toMatchObject({ status: 200, placeholder: 'true' })
    world.sandbox.faults.set({ logoPlaceholderHeader: false })
    expect(await logo('other.invalid')).toEqual({ ...one, placeholder: null })
  })
})

describe('the sandbox', () => {
  test('counts what it did', async () => {
    const own = await startSandbox()
    try {
      const url = `${own.serviceUrl}/companies/profnet/lookup`
      const buyer = createBuyer()
      await own.fund(buyer.address, 10n * PRICE)
      await buyer.buy(url, company('one'))
      await buyer.buy(url, company('ONE/'))
      await buyer.buy(url, company('two'))
      own.faults.set({ dropAfterSettlement: { next: 1 } })
      await buyer.buy(url, company('three')).catch(() => {})
      own.faults.set({ rateLimit: { limit: 1, windowMs: 60_000 } })
      await buyer.ask(url, company('four'))
      await buyer.ask(url, company('five'))
      await fetch(`${own.logoUrl}/a.example`)

      expect(own.stats()).toEqual({
        requests: 11,
        byEndpoint: { companies: 10, people: 0, logo: 1 },
        byStatus: { 200: 4, 402: 5, 429: 1 },
        dropped: 1,
        challenged: 5,
        rateLimited: 1,
        answered: 3,
        repeated: 0,
        settled: 4,
        pending: 0,
        distinctKeys: 5,
        keysPaid: 3,
        keysPaidTwice: 1,
      })
      expect(await own.transfersFrom(buyer.address)).toHaveLength(4)
    } finally {
      await own.stop()
    }
  })

  test('speaks of the network by another name in paths and keys when told to', async () => {
    const own = await startSandbox({ networkName: 'guild' })
    try {
      const buyer = createBuyer()
      await own.fund(buyer.address, PRICE)
      const body = { guild_url: company('harbour-lights').profnet_url }
      const { reply } = await buyer.buy(`${own.serviceUrl}/companies/guild/lookup`, body)
      expect(reply.body).toMatchObject({ data: { guild_name: 'harbour-lights' } })
      expect(JSON.stringify(Object.keys((reply.body as { data: object }).data))).not.toContain('profnet')
    } finally {
      await own.stop()
    }
  })

  test('is run over HTTP by another process', async () => {
    const control = async (path: string, method = 'GET', body?: unknown) => {
      const url = `${world.sandbox.serviceUrl}/_sandbox/${path}`
      const response = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
      return { status: response.status, body: (await response.json()) as unknown }
    }
    const buyer = createBuyer()
    const funding = { address: buyer.address, amountAtomic: '20000' }
    expect(await control('fund', 'POST', funding)).toEqual({ status: 200, body: { balanceAtomic: '20000' } })
    expect((await control('faults', 'POST', { errorAtDoor: { next: 1 } })).status).toBe(200)
    expect((await buyer.ask(world.companies, company('a'))).status).toBe(500)
    expect((await control('faults', 'POST', { nonsense: 1 })).status).toBe(400)
    await buyer.buy(world.companies, company('harbour-lights'))
    expect((await control(`transfers?from=${buyer.address}`)).body).toMatchObject([{ amountAtomic: '10000' }])
    expect((await control('stats')).body).toEqual(world.sandbox.stats())
  })

  test('settles many payments at once', async () => {
    const buyer = await world.funded()
    const challenge = buyer.challengeOf(await buyer.ask(world.companies, company('a')))
    const proofs = await Promise.all(Array.from({ length: 60 }, () => buyer.sign(challenge)))
    const replies = await Promise.all(
      proofs.map((proof, index) => buyer.ask(world.companies, company(`many-${index}`), proof)),
    )
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
    const transfers = await buyer.transfers()
    expect(transfers).toHaveLength(60)
    expect(new Set(transfers.map((transfer) => transfer.nonce)).size).toBe(60)
  })

  test('lets `finalized` and block time move while nobody pays', async () => {
    const client = createPublicClient({
      transport: http(world.sandbox.rpcUrl),
      pollingInterval: 50,
      cacheTime: 0,
    })
    const before = await client.getBlock({ blockTag: 'finalized' })
    await expect
      .poll(async () => (await client.getBlock({ blockTag: 'finalized' })).timestamp, { timeout: 10_000 })
      .toBeGreaterThan(before.timestamp)
  })

  test('answers authorizationState for a payment', async () => {
    const buyer = await world.funded()
    await buyer.buy(world.companies, company('harbour-lights'))
    const [transfer] = await buyer.transfers()
    const client = createPublicClient({ transport: http(world.sandbox.rpcUrl) })
    const used = await client.readContract({
      address: world.sandbox.asset,
      abi: parseAbi(['function authorizationState(address, bytes32) view returns (bool)']),
      functionName: 'authorizationState',
      args: [buyer.address, transfer!.nonce!],
    })
    expect(used).toBe(true)
  })
})
