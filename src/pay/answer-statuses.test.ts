import { describe, expect, test } from 'vitest'
import type { ResponseHead } from '../domain/payment.ts'
import { apiKeyTerms, createApiKey } from './api-key/protocol.ts'
import { createDispatch } from './dispatch.ts'
import { answered, challenge, paid } from './payer-replies.fixture.ts'
import { openStage } from './payer-stage.fixture.ts'
import { createPayer } from './payer.ts'
import type { PaidRequest } from './purchase.ts'

const notFound = { outcome: 'not_found' as const, data: null }

function open(decode?: PaidRequest['decode']) {
  const stage = openStage()
  const dispatch = createDispatch(stage.options)
  const charge = stage.leave()
  const request = { ...stage.purchase.request, ...(decode && { decode }) }
  return {
    ...stage,
    send: () => dispatch.send(charge, request, { ready: async () => {}, done: async () => {} }),
  }
}

describe('an answer that is no 200', () => {
  test.each([201, 202, 203, 206, 226])('is kept where its payment has settled: %i', async (status) => {
    const { send, script, charges } = open()
    script({ ...paid, status })
    expect(await send()).toMatchObject({ answer: { outcome: 'found', data: { name: 'Acme' } } })
    expect(charges).toMatchObject([{ state: 'settled', transaction: '0xab' }])
  })

  test.each([
    [201, 'not_found'],
    [203, 'not_found'],
    [202, 'unreadable'],
    [204, 'unreadable'],
    [206, 'unreadable'],
  ] as const)('that is paid and empty: %i counts as %s', async (status, outcome) => {
    const { send, script, charges } = open(() => notFound)
    script({ ...paid, status })
    expect(await send()).toMatchObject({ answer: { outcome } })
    expect(charges).toMatchObject([{ state: 'settled' }])
  })

  test.each([201, 202, 206])(
    'without proof of payment is kept where it found something: %i',
    async (status) => {
      const { send, script, charges } = open()
      script({ ...paid, headers: {}, status })
      expect(await send()).toMatchObject({ answer: { outcome: 'found' } })
      expect(charges).toMatchObject([{ state: 'in_doubt', reason: 'answered without a receipt' }])
    },
  )

  test('without proof and data is asked for again with the same bytes', async () => {
    const { send, script, charges } = open(() => notFound)
    script(answered(202))
    await expect(send()).rejects.toMatchObject({ code: 'http_202' })
    expect(charges).toMatchObject([{ state: 'in_doubt', reason: 'http_202' }])
  })

  test.each([
    [201, 'storeFreeAnswer'],
    [206, 'storeFreeAnswer'],
  ])('costs nothing where no payment was sent: %i', async (status) => {
    const stage = openStage()
    stage.script({ ...paid, status, headers: {} })
    expect(await createPayer(stage.options).buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    expect(stage.events.at(-1)).toMatch(/^storeFreeAnswer/)
    expect(stage.charges).toEqual([])
  })
})

describe('with an API key', () => {
  const protocol = createApiKey({ apiKey: 'secret', header: 'x-api-key' })
  const service = '{"error":"Unexpected server error"}'
  const page = '<html><head><title>504</title></head></html>'
  const head = (status: number, body: string): ResponseHead => ({ status, headers: {}, body })

  test.each<[number, string, boolean]>([
    [400, '{"code":40001,"message":"m","details":{}}', true],
    [401, '', true],
    [403, 'error code: 1010', true],
    [404, page, true],
    [416, '{"code":41675}', true],
    [429, '{"error":"slow"}', true],
    [500, service, true],
    [500, page, false],
    [500, '{"message":"Endpoint request timed out"}', false],
    [500, 'null', false],
    [408, service, false],
    [502, page, false],
    [503, service, false],
    [504, page, false],
    [504, service, false],
    [520, page, false],
  ])('a %i with the body %s proves that nothing was charged: %s', (status, body, isUncharged) => {
    expect(protocol.isUncharged?.(head(status, body))).toBe(isUncharged)
  })

  test('a gateway that gives up is asked once, and the charge waits for a person', async () => {
    const stage = openStage('api_key')
    const payer = createPayer({
      ...stage.options,
      protocols: [protocol],
      fixedTerms: () => apiKeyTerms(10_000n),
    })
    stage.script(head(504, page))
    await expect(payer.buy(stage.purchase)).rejects.toMatchObject({ code: 'http_504' })
    for (let tries = 0; tries < 5; tries++) {
      await expect(payer.buy(stage.purchase)).rejects.toMatchObject({
        code: 'in_doubt',
        details: { askAgainInMs: 86_400_000 },
      })
    }
    expect(stage.requests).toHaveLength(1)
    expect(stage.charges).toMatchObject([{ state: 'in_doubt' }])
  })

  test('a failure of the service itself is not charged and may be tried again', async () => {
    const stage = openStage('api_key')
    const payer = createPayer({
      ...stage.options,
      protocols: [protocol],
      fixedTerms: () => apiKeyTerms(10_000n),
    })
    stage.script(head(500, service), head(200, '{"name":"Acme"}'))
    await expect(payer.buy(stage.purchase)).rejects.toMatchObject({ code: 'http_500' })
    expect(await payer.buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    expect(stage.charges.map(({ state }) => state)).toEqual(['declined', 'settled'])
  })
})

describe('a payment that was lost', () => {
  /** Buys once on a server that settles and never answers, until the charge is lost. */
  async function lose(stage: ReturnType<typeof openStage>, payer: ReturnType<typeof createPayer>) {
    stage.chain.fate = { kind: 'used', transaction: '0xcd' }
    stage.script(challenge(), answered(500))
    await payer.buy(stage.purchase).catch(() => {})
    stage.pass(60)
  }

  test('blocks its lookup while the answer would have been fresh, and no longer', async () => {
    const stage = openStage()
    const journal = stage.options.journal
    const payer = createPayer({
      ...stage.options,
      rebuyLost: false,
      journal: {
        ...journal,
        unanswered: async (key) => ({ ...(await journal.unanswered(key)), lastLostAt: lostAt }),
      },
    })
    const lostAt = stage.now()
    await lose(stage, payer)
    stage.pass(300)
    await expect(payer.buy(stage.purchase)).rejects.toMatchObject({ code: 'paid_no_data' })
    stage.pass(89 * 86_400)
    await expect(payer.buy(stage.purchase)).rejects.toMatchObject({ code: 'paid_no_data' })
    stage.pass(86_400)
    stage.script(paid)
    expect(await payer.buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    expect(stage.charges.map(({ state }) => state)).toEqual(['lost', 'settled'])
  })
})
