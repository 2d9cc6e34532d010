import { describe, expect, test } from 'vitest'
import { PaymentInDoubtError, RetriableError } from '../domain/errors.ts'
import type { Protocol } from '../domain/payment.ts'
import { createPayer } from './payer.ts'
import { answered, challenge, offerOf, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'

const protocols: Protocol[] = ['x402', 'mpp', 'api_key']

/** Buys again and again, as a lookup that is postponed does. */
function open(protocol: Protocol) {
  const stage = openStage(protocol)
  if (protocol !== 'api_key') stage.script(challenge(offerOf(protocol)))
  const payer = createPayer({
    ...stage.options,
    errorFor: ({ status }) =>
      new RetriableError(status === 408 ? 'not_in_time' : 'service_error', `answered ${status}`),
    ...(protocol === 'api_key' ? { fixedTerms: () => stage.termsOf() } : {}),
  })
  const buy = () => payer.buy(stage.purchase).catch((error: unknown) => error)
  return {
    ...stage,
    payer,
    buy,
    proofs: () => stage.requests.flatMap(({ headers }) => headers?.['proof'] ?? []),
  }
}
const isNotInTime = expect.objectContaining({ code: 'not_in_time' })

describe.each(protocols)('an answer of 408 by %s', (protocol) => {
  test('is asked for again with the same authorization: three times and then an answer are one charge', async () => {
    const stage = open(protocol)
    stage.script(answered(408), answered(408), answered(408), paid)
    for (let asked = 0; asked < 3; asked++) {
      expect(await stage.buy()).toEqual(isNotInTime)
      expect(stage.charges).toMatchObject([{ state: 'in_doubt', reason: 'not_in_time', sends: asked + 1 }])
      stage.pass(10)
    }
    expect(await stage.buy()).toMatchObject({ outcome: 'found' })
    expect(stage.charges).toMatchObject([{ state: 'settled', sends: 4 }])
    expect(new Set(stage.proofs()).size).toBe(1)
    expect(stage.proofs()).toHaveLength(4)
  })

  test('is asked for again six times at most, whatever a later start of the lookup counts', async () => {
    const stage = open(protocol)
    stage.script(...Array.from({ length: 9 }, () => answered(408)))
    const ends: unknown[] = []
    for (let asked = 0; asked < 9; asked++) ends.push(await stage.buy())
    expect(ends.slice(0, 7)).toEqual(Array(7).fill(isNotInTime))
    for (const end of ends.slice(7)) expect(end).toBeInstanceOf(PaymentInDoubtError)
    expect(stage.proofs()).toHaveLength(7)
    expect(stage.charges).toHaveLength(1)
  })
})

describe('by API key', () => {
  test.each([
    ['killed after it was marked as sent again', { state: 'sent', reason: 'not_in_time' }],
    ['without an answer the last time', { state: 'in_doubt', reason: 'timeout' }],
    ['after the error of a gateway', { state: 'in_doubt', reason: 'service_error' }],
  ] as const)('a charge is not sent again %s', async (_, left) => {
    const stage = open('api_key')
    stage.leave({ ...left, sends: 2 })
    expect(await stage.buy()).toMatchObject({ code: 'in_doubt', details: { askAgainInMs: 86_400_000 } })
    expect(stage.requests).toEqual([])
  })

  test('a 408 is asked for again past the time of the charge, which says nothing without a chain', async () => {
    const stage = open('api_key')
    stage.leave({ state: 'in_doubt', reason: 'not_in_time', sends: 1, secondsLeft: -60 })
    stage.script(paid)
    expect(await stage.buy()).toMatchObject({ outcome: 'found' })
  })

  test('an action is never sent again, because its effect may be there', async () => {
    const stage = open('api_key')
    stage.leave({ state: 'in_doubt', reason: 'not_in_time', sends: 1 })
    const { purchase } = stage
    const action = { ...purchase, request: { ...purchase.request, operation: 'monitor.create' as const } }
    await expect(stage.payer.buy(action)).rejects.toBeInstanceOf(PaymentInDoubtError)
    expect(stage.requests).toEqual([])
  })

  test('one that comes after 408s is in doubt', async () => {
    const stage = open('api_key')
    stage.script(answered(408), answered(504))
    expect(await stage.buy()).toEqual(isNotInTime)
    expect(await stage.buy()).toMatchObject({ code: 'service_error' })
    expect(await stage.buy()).toBeInstanceOf(PaymentInDoubtError)
    expect(stage.proofs()).toHaveLength(2)
  })
})

test('on the chain, a payment whose time ends unused after 408s begins anew, and was never used', async () => {
  const stage = open('x402')
  stage.script(answered(408))
  expect(await stage.buy()).toEqual(isNotInTime)
  stage.pass(400)
  stage.chain.fate = { kind: 'dead' }
  stage.script(paid)
  expect(await stage.buy()).toMatchObject({ outcome: 'found' })
  expect(stage.charges).toMatchObject([{ state: 'expired' }, { state: 'settled' }])
})
