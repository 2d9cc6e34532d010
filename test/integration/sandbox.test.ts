import { describe, expect, test } from 'vitest'
import { createPublicClient, http, parseAbi } from 'viem'
import { logoFor } from '../../src/sandbox/data/logo.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { PRICE, company, person, useSandbox } from './sandbox-fixture.ts'
import { createBuyer } from './x402-buyer.ts'

const world = useSandbox()

describe('a paid lookup', () => {
  test.each([
    ['v2 in the header', { version: 2, place: 'header' }],
    ['v2 in header and body', { version: 2, place: 'both' }],
    ['v1 in the body', { version: 1 }],
  ] as const)('settles on the chain with a challenge of %s', async (_, challenge) => {
    world.sandbox.faults.set({ challenge })
    const buyer = await world.funded()
    const { reply } = await buyer.buy(world.companies, company('harbour-lights'))

    expect(reply.status).toBe(200)
    expect(reply.body).toEqual(world.answerFor(company('harbour-lights')))
    const [transfer, ...others] = await buyer.transfers()
    expect(others).toEqual([])
    expect(transfer).toMatchObject({ to: world.sandbox.payTo, amountAtomic: PRICE })
    expect(buyer.settlementOf(reply)).toMatchObject({ success: true, transaction: transfer!.transaction })
    expect(await world.sandbox.balanceOf(buyer.address)).toBe(99n * PRICE)
  })

  test('is paid for with v2 terms that stand only in the body', async () => {
    world.sandbox.faults.set({ challenge: { version: 2, place: 'body' } })
    const buyer = await world.funded()
    const refused = await buyer.ask(world.companies, company('harbour-lights'))
    expect(refused.headers.get('payment-required')).toBeNull()
    const proof = await buyer.sign(refused.body as never)
    expect((await buyer.ask(world.companies, company('harbour-lights'), proof)).status).toBe(200)
  })

  test('takes a v2 proof in the header x-payment too', async () => {
    const buyer = await world.funded()
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.people, person('ada-moreau'))))
    const reply = await buyer.ask(world.people, person('ada-moreau'), {
      'x-payment': Object.values(proof)[0]!,
    })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual(
      personAnswer(person('ada-moreau').profnet_url, { logoUrl: world.sandbox.logoUrl }),
    )
  })

  test('costs 0.010000 USD of USDC on Base, to the recipient and nobody else', async () => {
    const challenge = createBuyer().challengeOf(await createBuyer().ask(world.companies, company('x')))
    expect(challenge).toMatchObject({
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:8453',
          amount: '10000',
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          payTo: world.sandbox.payTo,
          extra: { name: 'USD Coin', version: '2' },
        },
      ],
    })
  })

  test('is refused when its payment was used before', async () => {
    const buyer = await world.funded()
    const { headers } = await buyer.buy(world.companies, company('harbour-lights'))
    const again = await buyer.ask(world.companies, company('harbour-lights'), headers)
    expect(again.status).toBe(402)
    expect(buyer.challengeOf(again).error).toBe('invalid_exact_evm_nonce_already_used')
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('settles once when one payment is sent three times at once', async () => {
    const buyer = await world.funded()
    const proof = await buyer.sign(
      buyer.challengeOf(await buyer.ask(world.companies, company('harbour-lights'))),
    )
    const replies = await Promise.all(
      [1, 2, 3].map(() => buyer.ask(world.companies, company('harbour-lights'), proof)),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 402, 402])
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('is refused without money', async () => {
    const buyer = createBuyer()
    const { reply } = await buyer.buy(world.companies, company('harbour-lights'))
    expect(reply.status).toBe(402)
    expect(buyer.challengeOf(reply).error).toBe('invalid_exact_evm_insufficient_balance')
  })

  test('is refused for other terms than those of the challenge', async () => {
    const buyer = await world.funded()
    const challenge = buyer.challengeOf(await buyer.ask(world.companies, company('harbour-lights')))
    challenge.accepts[0]!.amount = '1'
    const reply = await buyer.ask(world.companies, company('harbour-lights'), await buyer.sign(challenge))
    expect(reply.status).toBe(402)
    expect(await buyer.transfers()).toEqual([])
  })
})

describe('a request that the service refuses', () => {
  test.each([
    ['no body', '', 40001],
    ['a broken body', '{"profnet_url":', 40001],
    ['a list', [], 40001],
    ['no URL', {}, 41847],
    ['a URL that is a number', { profnet_url: 7 }, 40001],
    ['a URL without scheme', { profnet_url: 'www.profnet.example/company/a' }, 40001],
    ['the URL of a person', person('ada-moreau'), 40001],
    ['companies that are no list', { ...company('a'), companies: 'a' }, 40001],
  ])('for %s costs nothing', async (_, body, code) => {
    const buyer = await world.funded()
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, body)))
    const reply = await buyer.ask(world.companies, body, proof)
    expect(reply.status).toBe(400)
    expect(reply.body).toMatchObject({ code, message: expect.any(String), details: expect.any(Object) })
    expect(await buyer.transfers()).toEqual([])
  })

  test('for a content type other than JSON costs nothing', async () => {
    const buyer = await world.funded()
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, company('a'))))
    const reply = await buyer.ask(world.companies, company('a'), { ...proof, 'content-type': 'text/plain' })
    expect(reply).toMatchObject({ status: 400, body: { code: 40001 } })
    expect(await buyer.transfers()).toEqual([])
  })

  test.each(['node', 'undici', 'curl/8.5.0', ''])(
    'for the user agent %j is an edge text',
    async (userAgent) => {
      const reply = await createBuyer().ask(world.companies, company('a'), { 'user-agent': userAgent })
      expect(reply).toMatchObject({ status: 403, body: 'error code: 1010' })
      world.sandbox.faults.set({ blockGenericUserAgents: false })
      expect(
        (await createBuyer().ask(world.companies, company('a'), { 'user-agent': userAgent })).status,
      ).toBe(402)
    },
  )

  test('for an unknown path or method', async () => {
    const ask = (path: string, method: string) =>
      fetch(`${world.sandbox.serviceUrl}${path}`, { method, headers: { 'user-agent': 'paydirt-tests/1' } })
    expect((await ask('/companies/profnet/lookup', 'GET')).status).toBe(405)
    expect((await ask('/companies/nothing', 'POST')).status).toBe(404)
  })

  test('lists body keys that it does not know, and answers', async () => {
    const buyer = await world.funded()
    const body = { ...company('harbour-lights'), companies: ['a'], wanted: true, profile_id: 4 }
    const { reply } = await buyer.buy(world.companies, body)
    expect(reply.body).toEqual({
      ...world.answerFor(body),
      metadata: { ignored_fields: ['wanted', 'profile_id'] },
    })
  })
})

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
