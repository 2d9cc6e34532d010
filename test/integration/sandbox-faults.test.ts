import { describe, expect, test } from 'vitest'
import { createPublicClient, http } from 'viem'
import { z } from 'zod'
import type { Offer } from '../../src/sandbox/faults/faults.ts'
import { hostileOffers } from '../../src/sandbox/faults/faults.ts'
import { attempt, company, useSandbox } from './sandbox-fixture.ts'
import { createBuyer } from './x402-buyer.ts'

const world = useSandbox()

describe('faults', () => {
  test('a rate limit holds for its window and lets through what it says', async () => {
    world.sandbox.faults.set({ rateLimit: { kind: 'fixed', limit: 3, windowMs: 60_000 } })
    const buyer = createBuyer()
    const replies = await Promise.all([...'123456'].map(() => buyer.ask(world.companies, company('a'))))
    expect(replies.map((reply) => reply.status).sort()).toEqual([402, 402, 402, 429, 429, 429])
    expect(replies.find((reply) => reply.status === 429)!.body).toEqual({ error: expect.any(String) })
  })

  test.each([
    ['errorAtDoor', 500],
    ['errorAfterVerification', 500],
    ['dropAtDoor', 'cut'],
    ['dropBeforeSettlement', 'cut'],
  ] as const)('%s takes no money, and the same payment settles later', async (name, outcome) => {
    const buyer = await world.funded()
    const body = company('harbour-lights')
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, body)))
    world.sandbox.faults.set({ [name]: { next: 1 } })

    expect(await attempt(buyer.ask(world.companies, body, proof))).toBe(outcome)
    expect(await buyer.transfers()).toEqual([])
    expect((await buyer.ask(world.companies, body, proof)).status).toBe(200)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test.each([
    ['errorAfterSettlement', 500],
    ['dropAfterSettlement', 'cut'],
    ['facilitatorTimeout', 502],
  ] as const)('%s takes the money and withholds the answer', async (name, outcome) => {
    const buyer = await world.funded()
    const body = company('harbour-lights')
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, body)))
    world.sandbox.faults.set({ [name]: { next: 1 } })

    expect(await attempt(buyer.ask(world.companies, body, proof))).toBe(outcome)
    expect(await buyer.transfers()).toHaveLength(1)
    const again = await buyer.ask(world.companies, body, proof)
    expect(buyer.challengeOf(again).error).toBe('invalid_exact_evm_nonce_already_used')
  })

  test('settlementPending names a transaction that reaches the chain later', async () => {
    world.sandbox.faults.set({ settlementPending: { next: 1, delayMs: 300 } })
    const buyer = await world.funded()
    const { reply } = await buyer.buy(world.companies, company('harbour-lights'))
    expect(reply.status).toBe(402)
    const { transaction, errorReason } = buyer.settlementOf(reply)
    expect(errorReason).toBe('settlement_pending')
    expect(await buyer.transfers()).toEqual([])

    const client = createPublicClient({ transport: http(world.sandbox.rpcUrl), pollingInterval: 20 })
    const receipt = await client.waitForTransactionReceipt({ hash: transaction as `0x${string}` })
    expect(receipt.status).toBe('success')
    expect((await buyer.transfers()).map((transfer) => transfer.transaction)).toEqual([transaction])
  })

  test('a pending payment sent again is announced again, not paid twice', async () => {
    world.sandbox.faults.set({ settlementPending: { next: 1, delayMs: 500 } })
    const buyer = await world.funded()
    const first = await buyer.buy(world.companies, company('harbour-lights'))
    const second = await buyer.ask(world.companies, company('harbour-lights'), first.headers)
    expect(buyer.settlementOf(second).transaction).toBe(buyer.settlementOf(first.reply).transaction)
    const client = createPublicClient({ transport: http(world.sandbox.rpcUrl), pollingInterval: 20 })
    await client.waitForTransactionReceipt({ hash: buyer.settlementOf(second).transaction as `0x${string}` })
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('latency and a slow facilitator take the time they say', async () => {
    const buyer = await world.funded()
    world.sandbox.faults.set({
      latency: { minMs: 150, maxMs: 160 },
      slowFacilitator: { next: 1, delayMs: 150 },
    })
    const startedAt = performance.now()
    expect((await buyer.buy(world.companies, company('harbour-lights'))).reply.status).toBe(200)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299)
  })

  test('challengeAgain asks for payment for ever and never settles', async () => {
    world.sandbox.faults.set({ challengeAgain: { share: 1 } })
    const buyer = await world.funded()
    for (let round = 0; round < 3; round++) {
      const { reply } = await buyer.buy(world.companies, company('harbour-lights'))
      expect(reply.status).toBe(402)
      expect(buyer.challengeOf(reply).accepts).toHaveLength(1)
    }
    expect(await buyer.transfers()).toEqual([])
  })

  test('terms that change between two calls refuse the old payment and offer the new ones', async () => {
    const buyer = await world.funded()
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, company('a'))))
    const changed = { amountAtomic: '20000', payTo: '0x00000000000000000000000000000000DeaDBeef' }
    world.sandbox.faults.set({ changedOffers: { next: 1, offers: [changed] } })
    const reply = await buyer.ask(world.companies, company('a'), proof)
    expect(reply.status).toBe(402)
    expect(buyer.challengeOf(reply).accepts[0]).toMatchObject({ amount: '20000', payTo: changed.payTo })
    expect(await buyer.transfers()).toEqual([])
    expect((await buyer.ask(world.companies, company('a'), proof)).status).toBe(200)
  })

  test('a dearer price to another recipient really takes that money from who signs it', async () => {
    const offer = { amountAtomic: '20000', payTo: '0x00000000000000000000000000000000DeaDBeef' }
    world.sandbox.faults.set({ offers: [offer] })
    const buyer = await world.funded()
    expect((await buyer.buy(world.companies, company('a'))).reply.status).toBe(200)
    expect(await buyer.transfers()).toMatchObject([{ to: offer.payTo, amountAtomic: 20_000n }])
  })

  test('an upfront flow takes the money although the lookup then fails', async () => {
    world.sandbox.faults.set({ offers: hostileOffers.upfrontFlow, errorAfterVerification: { next: 1 } })
    const buyer = await world.funded()
    expect((await buyer.buy(world.companies, company('a'))).reply.status).toBe(500)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test.each(Object.entries(hostileOffers))(
    'the hostile challenge %s goes out as it is written',
    async (_, offers) => {
      const asked = [...offers]
      for (const version of [1, 2] as const) {
        world.sandbox.faults.set({ offers: asked, challenge: { version } })
        const challenge = createBuyer().challengeOf(await createBuyer().ask(world.companies, company('a')))
        expect(challenge.accepts).toHaveLength(asked.length)
        asked.forEach((offer, index) => {
          const { amountAtomic, domainName, assetTransferMethod, paymentFlow, ...rest } = offer as Offer
          const amountKey = version === 1 ? 'maxAmountRequired' : 'amount'
          expect(challenge.accepts[index]).toMatchObject({
            ...rest,
            [amountKey]: amountAtomic ?? '10000',
            extra: {
              name: domainName ?? 'USD Coin',
              ...(assetTransferMethod && { assetTransferMethod }),
              ...(paymentFlow && { paymentFlow }),
            },
          })
        })
      }
    },
  )

  test('shares hit the same requests again with the same seed, in any order', async () => {
    const bodies = Array.from({ length: 40 }, (_, index) => company(`share-${index}`))
    const run = async (seed: number, order: typeof bodies) => {
      world.sandbox.faults.reset()
      world.sandbox.faults.set({ seed, errorAtDoor: { share: 0.3 } })
      const statuses = new Map<string, number>()
      for (const body of order)
        statuses.set(body.profnet_url, (await createBuyer().ask(world.companies, body)).status)
      return bodies.map((body) => statuses.get(body.profnet_url))
    }
    const first = await run(7, bodies)
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(3)
    expect(await run(7, bodies.toReversed())).toEqual(first)
    expect(await run(8, bodies)).not.toEqual(first)
  })

  test('a fault that does not exist or a value out of range is refused and changes nothing', () => {
    expect(() => world.sandbox.faults.set({ slowness: 1 } as never)).toThrow(z.ZodError)
    expect(() => world.sandbox.faults.set({ errorAtDoor: { share: 2 } })).toThrow(z.ZodError)
    expect(world.sandbox.faults.get()).toEqual(world.sandbox.faults.reset())
  })
})

describe('a payment identifier', () => {
  const id = () => `pay_${crypto.randomUUID()}`

  test('gets the same answer again without a second settlement', async () => {
    world.sandbox.faults.set({ paymentIdentifier: true })
    const buyer = await world.funded()
    const { reply, headers } = await buyer.buy(world.companies, company('harbour-lights'), id())
    const again = await buyer.ask(world.companies, company('harbour-lights'), headers)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(reply.body)
    expect(buyer.settlementOf(again).transaction).toBe(buyer.settlementOf(reply).transaction)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test.each([
    'errorAfterSettlement',
    'dropAfterSettlement',
    'facilitatorTimeout',
    'settlementPending',
  ] as const)('brings back the answer that was lost to %s', async (name) => {
    world.sandbox.faults.set({ paymentIdentifier: true })
    const buyer = await world.funded()
    const body = company('harbour-lights')
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, body)), id())
    world.sandbox.faults.set({ [name]: { next: 1, ...(name === 'settlementPending' && { delayMs: 100 }) } })
    expect(await attempt(buyer.ask(world.companies, body, proof))).not.toBe(200)

    await expect.poll(() => buyer.transfers()).toHaveLength(1)
    expect((await buyer.ask(world.companies, body, proof)).body).toEqual(world.answerFor(body))
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('used at once three times settles once and answers three times', async () => {
    world.sandbox.faults.set({ paymentIdentifier: true })
    const buyer = await world.funded()
    const body = company('harbour-lights')
    const proof = await buyer.sign(buyer.challengeOf(await buyer.ask(world.companies, body)), id())
    const replies = await Promise.all([1, 2, 3].map(() => buyer.ask(world.companies, body, proof)))
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200])
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('with another request or payment is a conflict', async () => {
    world.sandbox.faults.set({ paymentIdentifier: true })
    const buyer = await world.funded()
    const shared = id()
    const { headers } = await buyer.buy(world.companies, company('harbour-lights'), shared)
    expect((await buyer.ask(world.companies, company('other'), headers)).status).toBe(409)
    expect((await buyer.buy(world.companies, company('harbour-lights'), shared)).reply.status).toBe(409)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('is not advertised while the switch is off', async () => {
    const challenge = createBuyer().challengeOf(await createBuyer().ask(world.companies, company('a')))
    expect(challenge.extensions).toBeUndefined()
  })
})
