import { describe, expect, test } from 'vitest'
import { RetriableError } from '../../src/domain/errors.ts'
import { challenge, fails, found, plain, transaction, type Reply } from '../support/payer-stage.ts'
import { stage, states, usePayerStage } from './payer-stage.fixture.ts'

usePayerStage()

describe('a lookup that goes well', () => {
  test('asks for the terms once, pays, and stores answer and settlement', async () => {
    const payer = stage.startPayer()
    stage.script(challenge(), found())
    expect(await payer.buy(stage.purchase)).toMatchObject({
      outcome: 'found',
      data: { company_name: 'Acme' },
    })
    expect(stage.proofs()).toEqual([undefined, expect.any(String)])
    expect(await stage.charges()).toMatchObject([{ attempt: 1, state: 'settled', sends: 1, transaction }])
    expect(await stage.answer()).toMatchObject({ outcome: 'found', data: { company_name: 'Acme' } })
    expect(await stage.committed()).toBe(10_000n)
  })

  test('is one request once the terms are known, also in another process', async () => {
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    stage.script(found())
    await stage.askAnew()
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests).toHaveLength(3)
    expect(stage.proofs()[2]).toEqual(expect.any(String))
    expect(new Set((await stage.charges()).map(({ nonce }) => nonce)).size).toBe(2)
  })

  test('costs nothing when the service answers without a challenge', async () => {
    stage.script(found({ receipt: false }))
    expect(await stage.startPayer().buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    expect(await stage.charges()).toEqual([])
    expect(await stage.answer()).toMatchObject({ outcome: 'found' })
    expect(await stage.committed()).toBe(0n)
  })

  test('keeps an answer that came without a receipt, leaves the charge in doubt, and later the chain confirms it', async () => {
    const payer = stage.startPayer()
    stage.script(challenge(), found({ receipt: false }))
    expect(await payer.buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    expect(await stage.charges()).toMatchObject([{ state: 'in_doubt', reason: 'answered without a receipt' }])
    expect(await stage.answer()).toMatchObject({ outcome: 'found' })

    const [open] = await stage.journal
      .openCharges(new Date('2027-01-01'), 10)
      .then((charges) => charges.filter(({ lookupKey }) => lookupKey === stage.key))
    expect(await payer.recover(open!, stage.purchase, true)).toBe(false)
    stage.chain.fate = { kind: 'used', transaction }
    expect(await payer.recover(open!, stage.purchase, true)).toBe(true)
    expect(await stage.charges()).toMatchObject([{ state: 'settled', transaction }])
    expect(stage.requests).toHaveLength(2)
  })
})

describe('whatever is no answer leaves the charge open, and the same bytes go out again', () => {
  test.each<[what: string, reply: Reply, error: object]>([
    [
      '429',
      plain(429, { 'retry-after': '2' }),
      { name: 'RetriableError', code: 'rate_limited', retryAfterMs: 2000, countsAsTry: false },
    ],
    ['500', plain(500), { name: 'RetriableError', code: 'service_error', countsAsTry: true }],
    ['502', plain(502), { name: 'RetriableError', code: 'service_error' }],
    ['400', plain(400), { name: 'FatalError', code: 'bad_request' }],
    ['409', plain(409), { name: 'PaymentInDoubtError' }],
    ['302', plain(302), { name: 'FatalError', code: 'unexpected_status' }],
    [
      'a time-out',
      fails(new RetriableError('timeout', 'no answer')),
      { name: 'RetriableError', code: 'timeout' },
    ],
    [
      'a connection cut',
      fails(new RetriableError('unreachable', 'cut')),
      { name: 'RetriableError', code: 'unreachable' },
    ],
    ['402 for its settlement', challenge({ error: 'settlement_pending' }), { name: 'PaymentInDoubtError' }],
    ['402 without a word', plain(402), { name: 'PaymentInDoubtError' }],
  ])('%s', async (_, reply, error) => {
    stage.script(challenge(), reply)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(error)
    expect(await stage.charges()).toMatchObject([{ state: 'in_doubt', sends: 1 }])
    expect(await stage.answer()).toBeUndefined()
    expect(await stage.committed()).toBe(10_000n)

    stage.pass(5)
    stage.script(found())
    expect(await stage.startPayer().buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    const [, first, second] = stage.requests
    expect(second).toEqual(first)
    expect(stage.requests).toHaveLength(3)
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 2 }])
    expect(await stage.committed()).toBe(10_000n)
  })
})

describe('a crash', () => {
  const crash = async (): Promise<never> => {
    throw new Error('killed')
  }

  test('after the charge is journaled and before it counts as sent: the journaled bytes go out', async () => {
    stage.script(challenge())
    await expect(stage.startPayer({ markSent: crash }).buy(stage.purchase)).rejects.toThrow('killed')
    expect(await states()).toEqual(['journaled'])
    stage.pass(60)
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests).toHaveLength(2)
    expect(await stage.charges()).toMatchObject([{ attempt: 1, state: 'settled', sends: 1 }])
    expect(await stage.committed()).toBe(10_000n)
  })

  test('before anything is sent, found again when its time is over: declined, its budget given back, bought anew', async () => {
    stage.script(challenge())
    await expect(stage.startPayer({ markSent: crash }).buy(stage.purchase)).rejects.toThrow('killed')
    stage.pass(295)
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(await states()).toEqual(['declined', 'settled'])
    expect(await stage.committed()).toBe(10_000n)
  })

  test.each(['settleCharge', 'storeAnswer'] as const)(
    'when the answer is here and not yet stored (%s): the same bytes go out again',
    async (step) => {
      const reply = found({ receipt: step === 'settleCharge' })
      stage.script(challenge(), reply)
      await expect(stage.startPayer({ [step]: crash }).buy(stage.purchase)).rejects.toThrow('killed')
      expect(await states()).toEqual(['sent'])
      stage.pass(1)
      stage.script(found())
      await stage.startPayer().buy(stage.purchase)
      expect(stage.requests[2]).toEqual(stage.requests[1])
      expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 2 }])
    },
  )
})
