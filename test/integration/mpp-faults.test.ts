import { describe, expect, test } from 'vitest'
import type { Protocol } from '../../src/domain/payment.ts'
import { basePolicy, chooseTerms } from '../../src/pay/limits/spending-policy.ts'
import { hostileMppOffers, hostileOffers } from '../../src/sandbox/faults/faults.ts'
import { openBuyer } from './mpp-buyer.fixture.ts'
import { company, PRICE, useSandbox } from './sandbox-fixture.ts'

const world = useSandbox()
const ourBuyer = (...by: [order?: Protocol[], funds?: bigint]) => openBuyer(world, ...by)

describe('a fault after a proof was sent by MPP', () => {
  test.each([
    ['dropBeforeSettlement', 0],
    ['errorAfterVerification', 0],
    ['challengeAgain', 0],
    ['dropAfterSettlement', 1],
    ['errorAfterSettlement', 1],
    ['challengeAfterSettlement', 1],
    ['facilitatorTimeout', 1],
    ['settlementPending', 1],
  ] as const)(
    '%s: moves the money %i times, and after the same bytes again once in all',
    async (name, moved) => {
      world.sandbox.faults.set({ challengeProtocols: 'mpp' })
      const buyer = await ourBuyer()
      const body = company('harbour-lights')
      const authorization = await buyer.drawn(body, 'one')
      const proof = await buyer.headersOf(authorization)
      world.sandbox.faults.set({ [name]: { next: 1, ...(name === 'settlementPending' && { delayMs: 100 }) } })
      const lost = await buyer.ask(body, proof).catch(() => undefined)
      expect(lost?.status).not.toBe(200)
      await expect.poll(() => buyer.transfers()).toHaveLength(moved)

      const again = await buyer.ask(body, proof)
      expect(await buyer.transfers()).toHaveLength(1)
      expect(again.status).toBe(moved === 0 ? 200 : 402)
      expect(await buyer.mpp.fate(authorization)).toMatchObject({ kind: 'used' })
    },
  )

  test.each([
    'dropAfterSettlement',
    'errorAfterSettlement',
    'challengeAfterSettlement',
    'facilitatorTimeout',
  ] as const)(
    '%s: a server that honours Idempotency-Key gives the answer for the same bytes',
    async (name) => {
      world.sandbox.faults.set({ challengeProtocols: 'mpp', mpp: { idempotencyKey: true } })
      const buyer = await ourBuyer()
      const body = company('harbour-lights')
      const authorization = await buyer.drawn(body, 'one')
      const proof = await buyer.headersOf(authorization)
      world.sandbox.faults.set({ [name]: { next: 1 } })
      expect((await buyer.ask(body, proof).catch(() => undefined))?.status).not.toBe(200)

      const again = await buyer.ask(body, proof)
      expect(again.status).toBe(200)
      expect(JSON.parse(again.body)).toEqual(world.answerFor(body))
      const [transfer, ...others] = await buyer.transfers()
      expect(others).toEqual([])
      expect(buyer.mpp.receipt(again)).toMatchObject({ success: true, transaction: transfer!.transaction })
      expect((await buyer.ask(company('other'), proof)).status).toBe(409)
    },
  )

  test.each([
    ['price', [{ amountAtomic: '20000' }]],
    ['recipient', [{ payTo: '0x00000000000000000000000000000000DeaDBeef' }]],
  ])(
    'another %s at the second call: the proof for the first is refused and moves nothing',
    async (_, offers) => {
      world.sandbox.faults.set({ challengeProtocols: 'mpp' })
      const buyer = await ourBuyer()
      const body = company('harbour-lights')
      const authorization = await buyer.drawn(body, 'one')
      const proof = await buyer.headersOf(authorization)
      world.sandbox.faults.set({ changedOffers: { next: 1, offers } })
      expect((await buyer.ask(body, proof)).status).toBe(402)
      expect(await buyer.mpp.fate(authorization)).toEqual({ kind: 'live' })
      expect((await buyer.ask(body, proof)).status).toBe(200)
      expect(await buyer.transfers()).toHaveLength(1)
    },
  )

  test('an error of a lookup that was paid first costs its price', async () => {
    world.sandbox.faults.set({
      challengeProtocols: 'mpp',
      mpp: { settleFirst: true },
      errorAfterVerification: { next: 1 },
    })
    const buyer = await ourBuyer()
    const body = company('harbour-lights')
    const authorization = await buyer.drawn(body, 'one')
    expect((await buyer.ask(body, await buyer.headersOf(authorization))).status).toBe(500)
    expect(await buyer.mpp.fate(authorization)).toMatchObject({ kind: 'used' })
  })
})

describe('a hostile MPP challenge', () => {
  test.each(Object.entries({ ...hostileOffers, ...hostileMppOffers }))(
    'with %s is not signed',
    async (_, offers) => {
      world.sandbox.faults.set({ challengeProtocols: 'mpp', offers })
      const buyer = await ourBuyer()
      const body = company('harbour-lights')
      const challenge = await buyer.ask(body)
      expect(challenge.headers['www-authenticate']).toMatch(/^Payment /)
      // On first sight any recipient is taken; what is pinned is held against it in the policy's own tests.
      const pinned = 'payTo' in offers[0]! ? world.sandbox.payTo : undefined
      const policy = { ...basePolicy, maxPriceAtomic: PRICE, recipients: [], order: ['mpp'] as const }
      const asked = { url: world.companies, body: JSON.stringify(body), nowMs: Date.now() }
      const choose = () => chooseTerms(buyer.mpp.offers(challenge), policy, () => pinned, asked)
      expect(choose).toThrow(expect.objectContaining({ name: 'PolicyDeniedError' }))
      expect(choose).not.toThrow(/no challenge that can be read/)
    },
  )
})

describe('both protocols in one challenge', () => {
  test.each([
    [['x402', 'mpp'], 'x402'],
    [['mpp', 'x402'], 'mpp'],
    [['mpp'], 'mpp'],
  ] as const)('ordered %j are paid by %s', async (order, expected) => {
    world.sandbox.faults.set({ challengeProtocols: 'both' })
    const buyer = await ourBuyer([...order])
    const body = company('harbour-lights')
    const authorization = await buyer.drawn(body, 'one')
    expect(authorization.terms.protocol).toBe(expected)
    expect((await buyer.ask(body, await buyer.headersOf(authorization))).status).toBe(200)
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test.each([
    { version: 1 },
    { version: 2, place: 'header' },
    { version: 2, place: 'body' },
    { version: 2, place: 'both' },
  ] as const)('are both read where the one of x402 is %j', async (challenge) => {
    world.sandbox.faults.set({ challengeProtocols: 'both', challenge, mpp: { card: true } })
    const buyer = await ourBuyer()
    const head = await buyer.ask(company('harbour-lights'))
    expect(buyer.x402.offers(head)).toMatchObject([{ version: challenge.version, amount: '10000' }])
    expect(buyer.mpp.offers(head)).toMatchObject([{ scheme: 'evm/charge', amount: '10000' }])
  })

  test('are both offered again to a proof that was used before', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'both' })
    const buyer = await ourBuyer(['mpp', 'x402'])
    const body = company('harbour-lights')
    const proof = await buyer.headersOf(await buyer.drawn(body, 'one'))
    await buyer.ask(body, proof)
    const again = await buyer.ask(body, proof)
    expect(again.status).toBe(402)
    expect(buyer.x402.offers(again)).toHaveLength(1)
    expect(buyer.mpp.offers(again)).toHaveLength(1)
  })
})
