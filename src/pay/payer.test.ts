import { describe, expect, test } from 'vitest'
import { FatalError, PaymentInDoubtError, RetriableError } from '../domain/errors.ts'
import type { Fate, Protocol } from '../domain/payment.ts'
import { createPayer } from './payer.ts'
import { answered, challenge, offerOf, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'

type Stage = ReturnType<typeof openStage>
const buy = (stage: Stage, change: Partial<Stage['options']> = {}) =>
  createPayer({ ...stage.options, ...change }).buy(stage.purchase)
const seedOf = (stage: Stage, attempt: number) => `ledger|${stage.purchase.key}|${attempt}`

const inDoubt = (askAgainInMs: number | undefined, reason = '') =>
  expect.objectContaining({
    name: PaymentInDoubtError.name,
    code: 'in_doubt',
    details: { askAgainInMs },
    // The journal and the operator get a reason.
    message: reason === '' ? expect.stringMatching(/./) : expect.stringContaining(reason),
  })

describe('a lookup that begins', () => {
  test('asks for the terms, covers and reserves the price, journals the send, sends, and settles', async () => {
    const stage = openStage()
    stage.script(challenge(), paid)
    expect(await buy(stage)).toMatchObject({ outcome: 'found', data: { name: 'Acme' } })
    expect(stage.events).toEqual([
      'permit background company.profile',
      'send without proof',
      'done 402',
      'request of run: 402',
      'remember POST api.example/companies',
      'permit background company.profile',
      'cover 10000',
      'reserve 10000',
      'markSent charge 1',
      `send ${seedOf(stage, 1)}`,
      'done 200',
      'settle charge 1',
    ])
    const { key, request } = stage.purchase
    expect(stage.reservations).toMatchObject([
      {
        lookupKey: key,
        operation: 'company.profile',
        runId: 'run',
        connector: 'csv',
        endpoint: request.endpoint,
        url: request.url,
        body: request.body,
        amountAtomic: 10_000n,
        budget: [{ scope: `run csv ${stage.now().toISOString()} USD` }],
      },
    ])
    expect(stage.charges[0]?.authorization.validBefore).toBe(stage.now().getTime() / 1000 + 300)
  })

  test('takes the remembered terms, and is one request', async () => {
    const stage = openStage()
    stage.script(challenge(), paid, paid)
    const payer = createPayer(stage.options)
    await payer.buy(stage.purchase)
    await payer.buy(stage.purchaseOf('other'))
    expect(stage.requests).toHaveLength(3)
    expect(stage.events.filter((it) => it.startsWith('request of'))).toHaveLength(1)
  })

  test('keeps an answer that costs nothing', async () => {
    const stage = openStage()
    stage.script(answered(200))
    expect(await buy(stage)).toMatchObject({ outcome: 'found', data: {} })
    expect(stage.events.slice(2)).toEqual([
      'done 200',
      'request of run: 200',
      `storeFreeAnswer ${stage.purchase.key}`,
    ])
    expect(stage.charges).toEqual([])
  })

  test.each([500, 404, 301])(
    'ends with the error of an answer that is neither free nor a challenge: %i',
    async (status) => {
      const stage = openStage()
      stage.script(answered(status))
      await expect(buy(stage)).rejects.toMatchObject({ code: `http_${status}` })
      expect(stage.charges).toEqual([])
    },
  )

  test('does not need to be told of requests', async () => {
    const stage = openStage()
    const { onRequest: _, ...options } = stage.options
    stage.script(challenge(), paid)
    await createPayer(options).buy(stage.purchase)
    expect(stage.charges).toMatchObject([{ state: 'settled' }])
  })

  test.each([
    [0, false, true],
    [0, true, true],
    [1, false, false],
    [1, true, true],
    [2, true, false],
  ])('after %i lost payments, buying again set to %s: bought %s', async (lost, rebuyLost, isBought) => {
    const stage = openStage()
    for (let at = 0; at < lost; at += 1) stage.leave({ state: 'lost' })
    stage.book.set(stage.purchase.request.endpoint, stage.termsOf())
    stage.script(paid)
    const bought = buy(stage, { rebuyLost })
    if (isBought) await expect(bought).resolves.toMatchObject({ outcome: 'found' })
    else {
      await expect(bought).rejects.toThrow(FatalError)
      await expect(bought).rejects.toMatchObject({ code: 'paid_no_data' })
      expect(stage.requests).toEqual([])
    }
  })
})

describe('a purchase that is only finished', () => {
  const finish = (stage: ReturnType<typeof openStage>) =>
    createPayer(stage.options).buy({ ...stage.purchase, onlyFinish: true })
  const notBought = { name: 'FatalError', code: 'not_bought_again' }

  test('begins nothing', async () => {
    const stage = openStage()
    await expect(finish(stage)).rejects.toMatchObject(notBought)
    expect(stage.requests).toEqual([])
  })

  test('gets the answer of its open charge, and buys nothing in place of a dead one', async () => {
    const stage = openStage()
    stage.leave({ state: 'in_doubt', sentAt: stage.now() })
    stage.script(paid)
    await expect(finish(stage)).resolves.toMatchObject({ outcome: 'found' })
    const late = openStage()
    late.leave({ state: 'in_doubt', sentAt: late.now(), secondsLeft: -60 })
    late.chain.fate = { kind: 'dead' }
    await expect(finish(late)).rejects.toMatchObject(notBought)
    expect(late.requests).toEqual([])
    expect(late.charges).toMatchObject([{ state: 'expired' }])
  })
})

describe('lookups that begin at once', () => {
  test('ask for the terms once', async () => {
    const stage = openStage()
    stage.script(challenge(), paid, paid, paid)
    const payer = createPayer(stage.options)
    await Promise.all(['a', 'b', 'c'].map((slug) => payer.buy(stage.purchaseOf(slug))))
    expect(stage.requests.filter(({ headers }) => headers?.['proof'] === undefined)).toHaveLength(1)
    expect(stage.charges.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled'])
  })

  test('ask again after one whose asking failed', async () => {
    const stage = openStage()
    stage.script(answered(503), challenge(), paid)
    const payer = createPayer(stage.options)
    const [first, second] = await Promise.allSettled(
      ['a', 'b'].map((slug) => payer.buy(stage.purchaseOf(slug))),
    )
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'http_503' } })
    expect(second).toMatchObject({ status: 'fulfilled' })
  })

  test('ask each for themselves where a challenge is for one lookup', async () => {
    const stage = openStage('mpp')
    const offer = challenge(offerOf('mpp'))
    stage.script(offer, offer, paid, paid)
    const payer = createPayer(stage.options)
    await Promise.all(['a', 'b'].map((slug) => payer.buy(stage.purchaseOf(slug))))
    expect(stage.requests.filter(({ headers }) => headers?.['proof'] === undefined)).toHaveLength(2)
    expect(stage.book.size).toBe(0)
  })

  test('ask anew once the terms were forgotten', async () => {
    const stage = openStage()
    const payer = createPayer(stage.options)
    stage.script(challenge(), paid)
    await payer.buy(stage.purchase)
    await stage.options.terms.forget(stage.purchase.request.endpoint)
    stage.script(challenge(), paid)
    await payer.buy(stage.purchaseOf('other'))
    expect(stage.requests).toHaveLength(4)
  })
})

describe('a challenge for one lookup', () => {
  const ending = (seconds: number | null) =>
    offerOf('mpp', {
      singleUse: {
        realm: 'api.example',
        digest: null,
        expiresAt: seconds === null ? null : Date.UTC(2026, 4, 1) / 1000 + seconds,
        header: 'authorization',
      },
    })

  test.each([
    [20, 10, true],
    [20, 10.001, false],
  ])('of %i seconds whose permit comes after %d: sent %s', async (lifeSeconds, waitSeconds, isSent) => {
    const stage = openStage('mpp')
    let permits = 0
    const acquirePermit: Stage['options']['acquirePermit'] = (lane, operation) => {
      if ((permits += 1) === 2) stage.pass(waitSeconds)
      return stage.options.acquirePermit(lane, operation)
    }
    stage.script(challenge(ending(lifeSeconds)), paid)
    const bought = buy(stage, { acquirePermit })
    if (isSent) return expect(await bought).toMatchObject({ outcome: 'found' })
    await expect(bought).rejects.toThrow(RetriableError)
    await expect(bought).rejects.toMatchObject({ code: 'challenge_ended', countsAsTry: false })
    // The permit was given back, and nothing was promised.
    expect(stage.events.at(-1)).toBe('done undefined')
    expect(stage.charges).toEqual([])
  })
})

describe('what cannot be reserved', () => {
  test('gives its permit back: the wallet is too small', async () => {
    const stage = openStage()
    stage.emptyWallet()
    stage.script(challenge())
    await expect(buy(stage)).rejects.toMatchObject({ code: 'wallet_empty' })
    expect(stage.events.slice(-2)).toEqual(['cover 10000', 'done undefined'])
    expect(stage.charges).toEqual([])
  })

  test.each([
    ['x402', true],
    ['mpp', true],
    ['mpp_card', false],
    ['api_key', false],
  ] as [Protocol, boolean][])('%s asks the wallet: %s', async (name, asks) => {
    const stage = openStage(name)
    if (name !== 'api_key') stage.script(challenge(offerOf(name)))
    stage.script(paid)
    await buy(stage, name === 'api_key' ? { fixedTerms: () => stage.termsOf() } : {})
    expect(stage.events.some((it) => it.startsWith('cover'))).toBe(asks)
    expect(stage.reservations[0]?.budget[0]?.scope).toMatch(name === 'api_key' ? /credit$/ : /USD$/)
  })
})

describe('a payment that the server refuses', () => {
  test.each(['insufficient_funds', 'insufficient_balance', 'verification_failed: insufficient_balance'])(
    'for %s finds the wallet empty and keeps the terms',
    async (refusal) => {
      const stage = openStage()
      stage.script(challenge(), challenge(undefined, refusal))
      await expect(buy(stage)).rejects.toMatchObject({ code: 'wallet_empty', message: 'found empty' })
      expect(stage.book.size).toBe(1)
      expect(stage.chain.asked).toBe(0)
      expect(stage.charges).toMatchObject([{ state: 'in_doubt', reason: refusal }])
    },
  )

  test('is forgotten with its terms, closed when the chain says that it is dead, and bought anew by the next try', async () => {
    const stage = openStage()
    stage.script(challenge(), challenge(undefined, 'expired'), challenge(), paid)
    stage.chain.fate = { kind: 'dead' }
    await expect(buy(stage)).rejects.toMatchObject({ code: 'expired_at_once' })
    expect(await buy(stage)).toMatchObject({ outcome: 'found' })
    expect(stage.events).toContain('forget POST api.example/companies')
    expect(stage.events).toContain('release charge 1 expired: expired')
    expect(stage.charges).toMatchObject([{ state: 'expired' }, { state: 'settled', attempt: 2 }])
    expect(stage.requests.at(-1)?.headers?.['proof']).toBe(seedOf(stage, 2))
  })

  test.each([
    [{ kind: 'live' }, 'x402', inDoubt(undefined, 'expired')],
    [{ kind: 'unknown' }, 'x402', inDoubt(undefined, 'expired')],
    [{ kind: 'unknown' }, 'mpp', inDoubt(undefined)],
    [{ kind: 'unknown' }, 'mpp_card', inDoubt(86_400_000)],
    [{ kind: 'used', transaction: '0xab' }, 'x402', inDoubt(5_000)],
  ] as [Fate, Protocol, unknown][])(
    'stays in doubt where the chain says %j of %s',
    async (fate, name, error) => {
      const stage = openStage(name)
      stage.chain.fate = fate
      const offer = offerOf(name)
      stage.script(challenge(offer), challenge(offer, 'expired'))
      await expect(buy(stage)).rejects.toEqual(error)
      expect(stage.charges).toMatchObject([{ state: 'in_doubt' }])
    },
  )
})
