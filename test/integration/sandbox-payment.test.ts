import { describe, expect, test } from 'vitest'
import { personAnswer } from '../../src/sandbox/data/person.ts'
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
