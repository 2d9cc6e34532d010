import { Credential } from 'mppx'
import { describe, expect, test } from 'vitest'
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts'
import type { Authorization, Protocol } from '../../src/domain/payment.ts'
import { createMpp } from '../../src/pay/mpp/protocol.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import { openBuyer } from './mpp-buyer.fixture.ts'
import { company, PRICE, useSandbox } from './sandbox-fixture.ts'

const world = useSandbox()
const ourBuyer = (...by: [order?: Protocol[], funds?: bigint]) => openBuyer(world, ...by)

describe('a lookup paid by MPP', () => {
  test.each([
    ['the answer comes first', { settleFirst: false }, 'authorization'],
    ['the settlement comes first', { settleFirst: true }, 'authorization'],
    [
      'the proof in the header that the challenge names',
      { header: 'Payment-Authorization' },
      'payment-authorization',
    ],
    ['no digest', { digest: false }, 'authorization'],
    ['a card is offered beside it', { card: true }, 'authorization'],
  ])('settles on the chain with the official server: %s', async (_, mpp, header) => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp', mpp })
    const buyer = await ourBuyer()
    const body = company('harbour-lights')
    const authorization = await buyer.drawn(body, 'one')
    const proof = await buyer.headersOf(authorization)
    expect(Object.keys(proof).sort()).toEqual([header, 'idempotency-key'].sort())
    expect(proof['idempotency-key']).toBe(authorization.paymentId)
    expect(await buyer.mpp.fate(authorization)).toEqual({ kind: 'live' })

    const answer = await buyer.ask(body, proof)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toEqual(world.answerFor(body))
    const transfers = await buyer.transfers()
    expect(transfers).toMatchObject([
      { to: world.sandbox.payTo, amountAtomic: PRICE, nonce: authorization.nonce },
    ])
    const [{ transaction } = { transaction: '' }] = transfers
    expect(buyer.mpp.receipt(answer)).toEqual({ success: true, transaction, reason: null })
    expect(await buyer.mpp.fate(authorization)).toEqual({ kind: 'used', transaction })
  })

  test('is refused when its proof comes a second time, and says so', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const buyer = await ourBuyer()
    const body = company('harbour-lights')
    const proof = await buyer.headersOf(await buyer.drawn(body, 'one'))
    expect((await buyer.ask(body, proof)).status).toBe(200)

    const again = await buyer.ask(body, proof)
    expect(again.status).toBe(402)
    expect(buyer.mpp.receipt(again)).toEqual({
      success: false,
      transaction: null,
      reason: 'verification_failed: nonce_already_used',
    })
    expect(await buyer.transfers()).toHaveLength(1)
  })

  test('can be rebuilt byte for byte from the journal alone', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const key = generatePrivateKey()
    const body = company('harbour-lights')
    const buyer = await ourBuyer()
    const authorization = await buyer.drawn(body, 'one')
    const first = await buyer.headersOf(authorization)

    const journaled = JSON.stringify(authorization, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    const read = JSON.parse(journaled) as Authorization
    read.terms.amountAtomic = BigInt(read.terms.amountAtomic)
    expect(await buyer.headersOf(read)).toEqual(first)

    const stranger = createMpp({ account: privateKeyToAccount(key), chain: undefined, domain: basePolicy })
    await expect(stranger.headers(read)).rejects.toMatchObject({ code: 'wallet_changed' })
  })

  test('is not signed when the journal does not hold what the policy let through', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const buyer = await ourBuyer()
    const authorization = await buyer.drawn(company('harbour-lights'), 'one')
    for (const change of [{ amountAtomic: 1n }, { payTo: buyer.address }, { network: 'eip155:1' }]) {
      const changed = { ...authorization, terms: { ...authorization.terms, ...change } }
      await expect(buyer.mpp.headers(changed)).rejects.toMatchObject({ code: 'bad_journal' })
    }
    const longer = { ...authorization, validBefore: authorization.validBefore + 1 }
    await expect(buyer.mpp.headers(longer)).rejects.toMatchObject({ code: 'bad_journal' })
  })

  test('pays for its own request only', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const buyer = await ourBuyer()
    const proof = await buyer.headersOf(await buyer.drawn(company('harbour-lights'), 'one'))
    const other = await buyer.ask(company('other'), proof)
    expect(other.status).toBe(402)
    expect(buyer.mpp.receipt(other)?.reason).toBe('verification_failed: body_digest_mismatch')
    expect(await buyer.transfers()).toEqual([])
  })

  test('is refused with its reason when the wallet is empty', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const buyer = await ourBuyer(['mpp'], 0n)
    const body = company('harbour-lights')
    const answer = await buyer.ask(body, await buyer.headersOf(await buyer.drawn(body, 'one')))
    expect(answer.status).toBe(402)
    expect(buyer.mpp.receipt(answer)?.reason).toBe('verification_failed: insufficient_balance')
  })

  test('has a nonce of its own for every request, though two are asked at once', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const buyer = await ourBuyer()
    const drawn = await Promise.all(
      Array.from({ length: 40 }, (_, index) => buyer.drawn(company(`many-${index}`), `${index}`)),
    )
    expect(new Set(drawn.map(({ nonce }) => nonce)).size).toBe(40)
  })
})

test('the proof names the wallet and repeats the challenge to the letter', async () => {
  world.sandbox.faults.set({ challengeProtocols: 'mpp' })
  const buyer = await ourBuyer()
  const authorization = await buyer.drawn(company('harbour-lights'), 'one')
  const { authorization: proof } = await buyer.headersOf(authorization)
  const { source, payload } = Credential.deserialize(proof!)
  expect(source).toBe(`did:pkh:eip155:8453:${buyer.address}`)
  expect(payload).toMatchObject({
    to: world.sandbox.payTo,
    value: '10000',
    validAfter: '0',
    validBefore: String(authorization.validBefore),
    nonce: authorization.nonce,
  })
})
