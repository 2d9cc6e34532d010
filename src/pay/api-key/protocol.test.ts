import { describe, expect, test } from 'vitest'
import { apiKeyTerms, createApiKey } from './protocol.ts'

const protocol = createApiKey({ apiKey: 'secret', header: 'x-api-key' })
const answer = (status: number) => ({ status, headers: {}, body: '' })

describe('direct access by an API key', () => {
  test('counts in credits, for what the request may cost at most', () => {
    expect(apiKeyTerms(10_000n)).toEqual({
      protocol: 'api_key',
      version: 1,
      scheme: 'direct',
      network: '',
      asset: 'credit',
      payTo: '',
      amountAtomic: 1_000_000n,
      maxTimeoutSeconds: 300,
      domainName: '',
      domainVersion: '',
      transferMethod: '',
      paymentFlow: 'after',
      paymentIdentifier: false,
      raw: {},
    })
  })

  test('sends the key in its header, and knows no challenge', async () => {
    const authorization = protocol.draw(apiKeyTerms(1n), { seed: 's', nowMs: 0, lifetimeSeconds: 1 })
    expect(await protocol.headers(authorization)).toEqual({ 'x-api-key': 'secret' })
    expect(protocol.offers(answer(402))).toEqual([])
    expect(protocol.name).toBe('api_key')
  })

  test('draws from the attempt alone', () => {
    const terms = apiKeyTerms(1n)
    const draw = (seed: string) =>
      protocol.draw(terms, { seed, nowMs: 1_777_593_600_999, lifetimeSeconds: 120 })
    const drawn = draw('a')
    expect(drawn).toEqual({
      terms,
      payer: '',
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      validAfter: 0,
      validBefore: 1_777_593_720,
      paymentId: `pd_${drawn.nonce.slice(2, 42)}`,
    })
    expect(draw('a').nonce).toBe(drawn.nonce)
    expect(draw('b').nonce).not.toBe(drawn.nonce)
  })

  test.each([
    [200, { success: true, transaction: null, reason: null }, false],
    [299, { success: true, transaction: null, reason: null }, false],
    [399, undefined, false],
    [400, undefined, true],
    [499, undefined, true],
    [500, undefined, false],
  ])('takes an answer %i: receipt %j, charged nothing %s', (status, receipt, isUncharged) => {
    expect(protocol.receipt(answer(status))).toEqual(receipt)
    expect(protocol.isUncharged?.(answer(status))).toBe(isUncharged)
  })

  test('has nobody to ask what became of a request', async () => {
    const authorization = protocol.draw(apiKeyTerms(1n), { seed: 's', nowMs: 0, lifetimeSeconds: 1 })
    expect(await protocol.fate(authorization)).toEqual({ kind: 'unknown' })
  })
})
