import { describe, expect, test } from 'vitest'
import { PaymentInDoubtError } from '../domain/errors.ts'
import type { Charge, Fate } from '../domain/payment.ts'
import { createPayer } from './payer.ts'
import { challenge, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'

type Stage = ReturnType<typeof openStage>
const buy = (stage: Stage, change: Partial<Stage['options']> = {}) =>
  createPayer({ ...stage.options, ...change }).buy(stage.purchase)

const inDoubt = (askAgainInMs: number | undefined, reason = '') =>
  expect.objectContaining({
    name: PaymentInDoubtError.name,
    code: 'in_doubt',
    details: { askAgainInMs },
    // The journal and the operator get a reason.
    message: reason === '' ? expect.stringMatching(/./) : expect.stringContaining(reason),
  })

describe('a charge that an earlier try left open', () => {
  test.each([
    ['journaled', {}],
    ['sent', { state: 'sent' }],
    ['in doubt', { state: 'in_doubt' }],
    ['journaled, with ten seconds left', { secondsLeft: 10 }],
    ['sent, with ten seconds left', { state: 'sent', secondsLeft: 10 }],
    [
      'sent and past its time, where answers are repeated',
      { state: 'sent', secondsLeft: -60, terms: { paymentIdentifier: true } },
    ],
  ] as [string, object][])('goes out again as it was: %s', async (_, left) => {
    const stage = openStage()
    stage.leave(left)
    stage.script(paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
    expect(stage.requests.map(({ headers }) => headers?.['proof'])).toEqual(['drawn before'])
    expect(stage.charges).toMatchObject([{ state: 'settled' }])
  })

  test.each(['journaled', 'sent', 'in_doubt'] as const)(
    'goes out to the address and with the body of its charge, though the settings have changed: %s',
    async (state) => {
      const stage = openStage()
      const left = { url: 'https://service.example/before', body: '{"named":"before"}' }
      stage.leave({ state, ...left })
      stage.script(paid)
      expect(await buy(stage)).toMatchObject({ outcome: 'found' })
      expect(stage.requests).toMatchObject([left])
    },
  )

  test.each(['sent', 'in_doubt'] as const)(
    'takes no secret to the service of other settings: by API key it stays in doubt, by payment it goes out alone: %s',
    async (state) => {
      const elsewhere = { state, url: 'https://before.example/companies' }
      const change = { serviceOrigin: 'https://now.example', extraHeaders: { bearer: 'secret' } }
      const byKey = openStage('api_key')
      byKey.leave({ ...elsewhere, reason: 'not_in_time', state: 'in_doubt' })
      await expect(buy(byKey, change)).rejects.toEqual(inDoubt(86_400_000, 'https://before.example'))
      expect([byKey.requests, byKey.charges]).toMatchObject([[], [{ state: 'in_doubt' }]])

      const byPayment = openStage()
      byPayment.leave(elsewhere)
      byPayment.script(paid)
      expect(await buy(byPayment, change)).toMatchObject({ outcome: 'found' })
      expect(byPayment.requests).toMatchObject([{ url: elsewhere.url, headers: { proof: 'drawn before' } }])
      expect(byPayment.requests[0]?.headers).not.toHaveProperty('bearer')
    },
  )

  test('is withdrawn where it was never sent and the settings name another service, and begins anew there', async () => {
    const stage = openStage('api_key')
    stage.leave({ url: 'https://before.example/companies' })
    stage.script(paid)
    const serviceOrigin = new URL(stage.purchase.request.url).origin
    const fixedTerms = () => stage.termsOf()
    expect(await buy(stage, { serviceOrigin, fixedTerms, extraHeaders: { bearer: 'secret' } })).toMatchObject(
      {
        outcome: 'found',
      },
    )
    expect(stage.charges).toMatchObject([{ state: 'declined' }, { state: 'settled' }])
    expect(stage.requests).toMatchObject([{ url: stage.purchase.request.url, headers: { bearer: 'secret' } }])
  })

  test('goes out with the body of its request where that of the charge was erased', async () => {
    const stage = openStage()
    stage.leave({ state: 'in_doubt', body: '' })
    stage.script(paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
    expect(stage.requests.map(({ body }) => body)).not.toContain('')
  })

  test('is withdrawn where it was never sent and its time is nearly over, and begins anew', async () => {
    const stage = openStage()
    stage.leave({ secondsLeft: 9.999 })
    stage.script(challenge(), paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
    expect(stage.charges).toMatchObject([{ state: 'declined' }, { state: 'settled' }])
  })

  test('is in doubt where another process has sent it meanwhile', async () => {
    const stage = openStage()
    stage.leave({ secondsLeft: 9 })
    stage.journalSays.withdraw = false
    await expect(buy(stage)).rejects.toEqual(inDoubt(undefined))
    expect(stage.requests).toEqual([])
  })

  test.each(['sent', 'in_doubt'] as const)('is never sent twice by API key: %s', async (state) => {
    const stage = openStage('api_key')
    stage.leave({ state, terms: { paymentIdentifier: true } })
    await expect(buy(stage)).rejects.toEqual(inDoubt(86_400_000))
    expect(stage.requests).toEqual([])
  })

  test('goes out by API key where it was never sent', async () => {
    const stage = openStage('api_key')
    stage.leave()
    stage.script(paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
  })

  test.each([
    ['live', { kind: 'live' }, {}, inDoubt(30_000)],
    ['live, refused before', { kind: 'live' }, { reason: 'http_500' }, inDoubt(30_000, 'http_500')],
    ['moved now', { kind: 'used', transaction: null }, { sentAt: null }, inDoubt(5_000)],
    ['moved 41 seconds ago', { kind: 'used', transaction: null }, { secondsAgo: 41 }, inDoubt(4_000)],
  ] as [string, Fate, Partial<Charge> & { secondsAgo?: number }, unknown][])(
    'past its time is left to the chain, which is asked and nothing is sent: %s',
    async (_, fate, { secondsAgo, ...left }, error) => {
      const stage = openStage()
      stage.chain.fate = fate
      const sentAt = secondsAgo === undefined ? null : new Date(stage.now().getTime() - secondsAgo * 1000)
      stage.leave({ state: 'in_doubt', secondsLeft: 9, sentAt, ...left })
      await expect(buy(stage)).rejects.toEqual(error)
      expect(stage.requests).toEqual([])
    },
  )

  test.each([
    [44, undefined],
    [45, 'lose charge 1 0xcd'],
  ])('whose money moved %i seconds ago without an answer', async (secondsAgo, event) => {
    const stage = openStage()
    stage.chain.fate = { kind: 'used', transaction: '0xcd' }
    const sentAt = new Date(stage.now().getTime() - secondsAgo * 1000)
    stage.leave({ state: 'in_doubt', secondsLeft: -1, sentAt })
    const bought = buy(stage, { rebuyLost: false })
    await expect(bought).rejects.toMatchObject({ code: event ? 'paid_no_data' : 'in_doubt' })
    expect(stage.events.find((it) => it.startsWith('lose'))?.split(':')[0]).toBe(event)
  })

  test('that is lost is bought again once', async () => {
    const stage = openStage()
    stage.chain.fate = { kind: 'used', transaction: null }
    stage.leave({ state: 'in_doubt', secondsLeft: -1, sentAt: new Date(stage.now().getTime() - 60_000) })
    stage.script(challenge(), paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
    expect(stage.charges).toMatchObject([{ state: 'lost' }, { state: 'settled' }])
  })
})

describe('the recovery of a charge that no worker drives', () => {
  const recover = (stage: Stage, charge: Charge, isAnswered = false) =>
    createPayer(stage.options).recover(charge, stage.purchase, isAnswered)

  test.each([
    [300, true, false, []],
    [10, true, false, []],
    [9, true, true, ['withdraw charge 1']],
    [9, false, false, ['withdraw charge 1']],
  ])(
    'never sent, %i seconds left, withdrawn %s: closed %s',
    async (secondsLeft, isMine, isClosed, events) => {
      const stage = openStage()
      if (!isMine) stage.journalSays.withdraw = false
      expect(await recover(stage, stage.leave({ secondsLeft }))).toBe(isClosed)
      expect(stage.events).toEqual(events)
      expect(stage.chain.asked).toBe(0)
    },
  )

  test.each(['live', 'unknown'] as const)('waits while the chain says %s', async (kind) => {
    const stage = openStage()
    stage.chain.fate = { kind }
    expect(await recover(stage, stage.leave({ state: 'sent', secondsLeft: -1 }), true)).toBe(false)
    expect(stage.events).toEqual([])
  })

  test('sends nothing in place of a body that was erased: its answer is lost, and its money is shown', async () => {
    const stage = openStage()
    stage.chain.fate = { kind: 'used', transaction: '0xcd' }
    const sentAt = new Date(stage.now().getTime() - 60_000)
    const charge = stage.leave({
      state: 'in_doubt',
      body: '',
      sentAt,
      secondsLeft: -60,
      terms: { paymentIdentifier: true },
    })
    const { recover: recoverAs } = createPayer(stage.options)
    const purchase = { ...stage.purchase, request: { ...stage.purchase.request, body: '' } }
    expect(await recoverAs(charge, purchase, false)).toBe(true)
    expect([stage.requests, stage.charges]).toMatchObject([[], [{ state: 'lost', transaction: '0xcd' }]])
  })

  test('confirms what is answered and paid', async () => {
    const stage = openStage()
    stage.chain.fate = { kind: 'used', transaction: '0xcd' }
    expect(await recover(stage, stage.leave({ state: 'in_doubt' }), true)).toBe(true)
    expect(stage.events).toEqual([`confirm charge 1 0xcd ${stage.now().toISOString()}`])
  })

  test('releases what is dead, also where it is answered', async () => {
    const stage = openStage()
    stage.chain.fate = { kind: 'dead' }
    expect(await recover(stage, stage.leave({ state: 'in_doubt', reason: 'http_500' }), true)).toBe(true)
    expect(stage.events).toEqual(['release charge 1 expired: http_500'])
  })

  test('asks for the answer of what is paid, where answers are repeated', async () => {
    const stage = openStage()
    stage.chain.fate = { kind: 'used', transaction: '0xcd' }
    const charge = stage.leave({ state: 'in_doubt', secondsLeft: -1, terms: { paymentIdentifier: true } })
    stage.script(paid)
    expect(await recover(stage, charge)).toBe(true)
    expect(stage.charges).toMatchObject([{ state: 'settled' }])
    expect(stage.events[0]).toBe('permit background company.profile')
  })

  test.each([
    [true, 0, false],
    [true, 60, true],
    [false, 60, true],
    [false, 0, false],
  ])(
    'of what is paid and not answered, answers repeated %s, sent %i seconds ago: lost %s',
    async (paymentIdentifier, secondsAgo, isLost) => {
      const stage = openStage()
      stage.chain.fate = { kind: 'used', transaction: '0xcd' }
      const sentAt = new Date(stage.now().getTime() - secondsAgo * 1000)
      const charge = stage.leave({ state: 'in_doubt', secondsLeft: -1, sentAt, terms: { paymentIdentifier } })
      if (paymentIdentifier) stage.script(challenge(undefined, 'nonce_already_used'))
      expect(await recover(stage, charge)).toBe(isLost)
      expect(stage.requests).toHaveLength(paymentIdentifier ? 1 : 0)
      expect(stage.charges[0]?.state).toBe(isLost ? 'lost' : 'in_doubt')
    },
  )
})
