import { describe, expect, test } from 'vitest'
import { BudgetExhaustedError, FatalError, RetriableError } from '../domain/errors.ts'
import type { Fact } from '../domain/record.ts'
import { createDispatch, type DispatchOptions } from './dispatch.ts'
import { answered, challenge, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'
import type { PaidRequest } from './purchase.ts'

function open(change: Partial<DispatchOptions> = {}) {
  const stage = openStage()
  const dispatch = createDispatch({ ...stage.options, ...change })
  const permit = {
    ready: async () => {},
    done: async (response: { status: number } | undefined) =>
      void stage.events.push(`done ${response?.status}`),
  }
  const charge = stage.leave()
  const send = (request: Partial<PaidRequest> = {}) =>
    dispatch.send(charge, { ...stage.purchase.request, ...request }, permit)
  return { ...stage, dispatch, permit, charge, send }
}

const daysMs = 86_400_000

describe('a charge that is sent', () => {
  test('is marked as sent first, and settled with its answer and receipt', async () => {
    const { send, script, events, receipts, now } = open()
    script(paid)
    expect(await send()).toEqual({
      answer: {
        outcome: 'found',
        data: { name: 'Acme' },
        freshUntil: new Date(now().getTime() + 90 * daysMs),
      },
    })
    expect(events).toEqual(['markSent charge 1', 'send drawn before', 'done 200', 'settle charge 1'])
    expect(receipts).toEqual([{ transaction: '0xab', at: now() }])
  })

  test('is one JSON request with the proof and the headers that every request has', async () => {
    const { send, script, requests, purchase } = open({ extraHeaders: { authorization: 'Bearer x' } })
    script(paid)
    await send()
    const { method, url, body, timeoutMs } = purchase.request
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: 'Bearer x',
      proof: 'drawn before',
    }
    expect(requests).toEqual([{ method, url, body, timeoutMs, headers }])
  })

  test('tells of its answer, and of what it cost in credits', async () => {
    const told: unknown[] = []
    const { send, script, receipts, purchase } = open({
      creditsOf: (body) => (JSON.parse(body) as { credits?: number }).credits,
      onAnswer: (request, body) => void told.push([request.operation, body]),
    })
    const body = '{"credits":1.5}'
    script({ ...paid, body })
    await send()
    expect(receipts).toMatchObject([{ creditsAtomic: 1_500_000n }])
    expect(told).toEqual([[purchase.request.operation, body]])
  })

  test.each([
    ['no receipt', {}, 'answered without a receipt'],
    ['the receipt of a failure', { receipt: 'settlement_failed' }, 'settlement_failed'],
  ])('keeps an answer with %s, and stays in doubt', async (_, headers, reason) => {
    const told: string[] = []
    const { send, script, charges, events } = open({ onAnswer: (__, body) => void told.push(body) })
    script({ ...paid, headers: headers as Record<string, string> })
    expect(await send()).toMatchObject({ answer: { outcome: 'found' } })
    expect(events.at(-1)).toBe(`storeAnswer charge 1: ${reason}`)
    expect(charges).toMatchObject([{ state: 'in_doubt', reason }])
    expect(told).toHaveLength(1)
  })

  test('leaves nothing where spending has been stopped', async () => {
    const { send, requests, events, journalSays } = open()
    journalSays.markSent = 'stopped'
    await expect(send()).rejects.toThrow(BudgetExhaustedError)
    await expect(send()).rejects.toMatchObject({ code: 'stopped' })
    expect(requests).toEqual([])
    expect(events).toEqual(['done undefined', 'done undefined'])
  })

  test('leaves nothing where another process has closed it', async () => {
    const { send, requests, events, journalSays } = open()
    journalSays.markSent = 'closed'
    await expect(send()).rejects.toMatchObject({
      name: RetriableError.name,
      code: 'charge_closed',
      countsAsTry: false,
    })
    expect(requests).toEqual([])
    expect(events).toEqual(['done undefined'])
  })

  test.each([
    ['stopped', { code: 'stopped' }],
    ['closed', { code: 'charge_closed' }],
  ] as const)('asks no one for a proof where it may not be sent: %s', async (mark, error) => {
    const { protocol } = openStage()
    let drawn = 0
    const headers = async () => ({ proof: `token ${(drawn += 1)}` })
    const { send, requests, events, journalSays } = open({
      protocols: [{ ...protocol, headers, asksForProof: true }],
    })
    journalSays.maySend = mark
    await expect(send()).rejects.toMatchObject(error)
    expect([drawn, requests, events]).toEqual([0, [], ['done undefined']])
    // Stopped while the issuer made the token: it is drawn, and not sent.
    delete journalSays.maySend
    journalSays.markSent = mark
    await expect(send()).rejects.toMatchObject(error)
    expect([drawn, requests]).toEqual([1, []])
  })

  test('makes a proof of its own without asking first: only the mark as sent lets it go', async () => {
    const { send, script, requests, journalSays } = open()
    script(paid)
    journalSays.maySend = 'stopped'
    journalSays.markSent = 'stopped'
    await expect(send()).rejects.toMatchObject({ code: 'stopped' })
    expect(requests).toEqual([])
    delete journalSays.markSent
    await send()
    expect(requests).toHaveLength(1)
  })

  test('gives its permit back where no proof could be made', async () => {
    const stage = openStage()
    const refused = new RetriableError('no_card_token', 'the issuer returned no token for the card')
    const headers = () => Promise.reject(refused)
    const { send, events } = open({ protocols: [{ ...stage.protocol, headers }] })
    await expect(send()).rejects.toBe(refused)
    expect(events).toEqual(['done undefined'])
  })

  test.each([
    [new RetriableError('timeout', 'no answer came'), 'timeout'],
    [new TypeError('broken'), 'no answer'],
  ])('is in doubt where no answer came: %s', async (error, reason) => {
    const { send, script, events } = open()
    script(error)
    await expect(send()).rejects.toBe(error)
    expect(events).toEqual([
      'markSent charge 1',
      'send drawn before',
      'done undefined',
      `markInDoubt charge 1: ${reason}`,
    ])
  })

  test.each([
    [challenge(undefined, 'expired'), 'expired'],
    [challenge(), 'answered 402'],
    [answered(409), 'answered 409'],
  ])('is in doubt where the server refuses the payment', async (reply, refusal) => {
    const { send, script, charges } = open()
    script(reply)
    expect(await send()).toEqual({ refusal })
    expect(charges).toMatchObject([{ state: 'in_doubt', reason: refusal }])
  })

  test.each([500, 404, 301])('is in doubt after an answer %i, whose error is thrown', async (status) => {
    const { send, script, charges } = open()
    script(answered(status))
    await expect(send()).rejects.toMatchObject({ code: `http_${status}` })
    expect(charges).toMatchObject([{ state: 'in_doubt', reason: `http_${status}` }])
  })

  test('is released where its protocol knows that the answer cost nothing', async () => {
    const stage = openStage()
    const isUncharged = ({ status }: { status: number }) => status >= 400
    const protocols = [{ ...stage.protocol, isUncharged }]
    const { send, script, events } = open({ protocols })
    script(answered(402))
    await expect(send()).rejects.toMatchObject({ code: 'http_402' })
    expect(events.at(-1)).toBe('release charge 1 declined: answered 402')
    const again = open({ protocols })
    again.script(answered(302))
    await expect(again.send()).rejects.toMatchObject({ code: 'http_302' })
    expect(again.events.at(-1)).toBe('markInDoubt charge 1: http_302')
  })

  test('needs its protocol', () => {
    const { dispatch, termsOf, protocol } = open()
    expect(dispatch.protocolOf(termsOf())).toBe(protocol)
    expect(() => dispatch.protocolOf(termsOf({ protocol: 'mpp' }))).toThrow(FatalError)
    expect(() => dispatch.protocolOf(termsOf({ protocol: 'mpp' }))).toThrow(/mpp/)
  })
})

describe('an answer that was started and comes later', () => {
  const start = (change: object) => ({
    started: () => ({ queryId: 'q', isCompleted: false, estimatedMs: undefined, ...change }),
  })

  test.each([
    ['in five seconds where the service does not say', {}, 5_000],
    ['when the service says', { estimatedMs: 20_000 }, 20_000],
    ['in a minute at the latest', { estimatedMs: 61_000 }, 60_000],
  ])('is asked for %s', async (_, change, afterMs) => {
    const { send, script, now } = open()
    script(paid)
    expect(await send(start(change))).toEqual({
      answer: {
        outcome: 'found',
        data: null,
        freshUntil: now(),
        startedAs: { queryId: 'q', askAt: new Date(now().getTime() + afterMs) },
      },
    })
  })

  test.each([
    ['completed', start({ isCompleted: true })],
    ['without an id', start({ queryId: '' })],
    ['not started', { started: () => undefined }],
  ])('is read at once where it is %s', async (_, request) => {
    const { send, script } = open()
    script(paid)
    expect(await send(request)).toMatchObject({ answer: { data: { name: 'Acme' } } })
  })
})

describe('an answer to several lookups', () => {
  test('keeps each part for as long as its outcome is fresh', async () => {
    const { send, script, now } = open()
    const facts: [number, Fact][] = [
      [0, { outcome: 'found', data: { name: 'Acme' } as never }],
      [2, { outcome: 'not_found', data: null }],
    ]
    script(paid)
    const at = now().getTime()
    expect(await send({ parts: () => new Map(facts) })).toEqual({
      answer: {
        outcome: 'found',
        data: null,
        freshUntil: now(),
        parts: new Map([
          [0, { outcome: 'found', data: { name: 'Acme' }, freshUntil: new Date(at + 90 * daysMs) }],
          [2, { outcome: 'not_found', data: null, freshUntil: new Date(at + 30 * daysMs) }],
        ]),
      },
    })
  })
})

test('a request without a proof gives its permit back, whatever comes of it', async () => {
  const { dispatch, permit, script, events, purchase } = open()
  script(answered(500), new TypeError('broken'))
  expect(await dispatch.exchange(purchase.request, {}, permit)).toMatchObject({ status: 500 })
  await expect(dispatch.exchange(purchase.request, {}, permit)).rejects.toThrow('broken')
  expect(events.filter((it) => it.startsWith('done'))).toEqual(['done 500', 'done undefined'])
})

describe('each exchange is measured once, with how it ended', () => {
  test.each([
    ['found', paid, {}],
    ['not_found', paid, { decode: (): Fact => ({ outcome: 'not_found', data: null }) }],
    ['batch', paid, { parts: () => new Map([[0, { outcome: 'not_found', data: null } as Fact]]) }],
    ['started', paid, { started: () => ({ queryId: 'q1', isCompleted: false, estimatedMs: 9 }) }],
    ['challenge', answered(402), {}],
    ['rate_limited', answered(429), {}],
    ['refused', answered(404), {}],
    ['server_error', answered(503), {}],
    ['unanswered', new RetriableError('timeout', 'no answer'), {}],
  ] as const)('%s', async (outcome, reply, request) => {
    const measured: unknown[] = []
    const { send, script, purchase } = open({
      onExchange: (operation, ended, ms) => void measured.push([operation, ended, ms >= 0]),
    })
    script(reply)
    await send(request as Partial<PaidRequest>).catch(() => {})
    expect(measured).toEqual([[purchase.request.operation, outcome, true]])
  })
})

describe('a charge was drawn for the service of the settings', () => {
  test.each([
    ['at its origin', 'https://api.example/companies?x=1', true],
    ['at its origin, written in another way', 'HTTPS://API.example:443/companies', true],
    ['at its origin without a path', 'https://api.example?x=1', true],
    ['at a name that begins like it', 'https://api.example.other.test/companies', false],
    ['at a user that is named like it', 'https://api.example@other.test/companies', false],
    ['at another port', 'https://api.example:8443/companies', false],
    ['without encryption', 'http://api.example/companies', false],
  ])('%s', (_, url, isHere) => {
    expect(open({ serviceOrigin: 'https://api.example' }).dispatch.isElsewhere({ url })).toBe(!isHere)
    expect(open().dispatch.isElsewhere({ url })).toBe(false)
  })
})
