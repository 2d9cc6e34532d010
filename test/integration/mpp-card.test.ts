import { Challenge, Credential } from 'mppx'
import { Mppx, stripe } from 'mppx/server'
import { describe, expect, test } from 'vitest'
import { createMppCard, type TokenRequest } from '../../src/pay/mpp/card.ts'
import { basePolicy, chooseTerms, type SpendingPolicy } from '../../src/pay/limits/spending-policy.ts'

const url = 'https://api.example/companies/lookup'
const body = '{"a":1}'

/** The official server over a card processor of our own: one token pays once, and the same call gets the same answer. */
function openServer(amount: string) {
  const charges: { amount: number; currency: string; token: string; key: string }[] = []
  const client = {
    paymentIntents: {
      async create(intent: Record<string, unknown>, { idempotencyKey }: { idempotencyKey: string }) {
        const known = charges.findIndex(({ key }) => key === idempotencyKey)
        if (known < 0) {
          charges.push({
            amount: intent['amount'] as number,
            currency: intent['currency'] as string,
            token: intent['shared_payment_granted_token'] as string,
            key: idempotencyKey,
          })
        }
        return {
          id: `pi_${known < 0 ? charges.length : known + 1}`,
          status: 'succeeded',
          lastResponse: { headers: { 'idempotent-replayed': String(known >= 0) } },
        }
      },
    },
  }
  const server = Mppx.create({
    realm: 'api.example',
    secretKey: 'a secret for these tests of thirty-two bytes and more',
    methods: [
      stripe.charge({
        client: client as never,
        networkId: 'profile_1',
        currency: 'usd',
        decimals: 2,
        paymentMethodTypes: ['card'],
      }),
    ],
  })

  async function ask(headers: Record<string, string> = {}) {
    const result = await server.stripe.charge({ amount })(new Request(url, { method: 'POST', body, headers }))
    const response =
      result.status === 402 ? result.challenge : result.withReceipt(new Response('{"data":null}'))
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }
  }
  return { ask, charges }
}

function openCard() {
  const requests: TokenRequest[] = []
  const protocol = createMppCard({
    paymentMethod: 'pm_1',
    createToken: async (request) => {
      requests.push(request)
      return `spt_${request.idempotencyKey}`
    },
  })
  return { protocol, requests }
}

const policy = (maxPriceAtomic: bigint): SpendingPolicy => ({
  ...basePolicy,
  maxPriceAtomic,
  recipients: [],
  cardProfiles: ['profile_1'],
  order: ['mpp_card'],
})
const asked = () => ({ url, body, nowMs: Date.now() })

describe('a lookup paid by card', () => {
  test('is priced in cents, charged once, and built again to the letter', async () => {
    const { ask, charges } = openServer('0.01')
    const { protocol, requests } = openCard()
    const offers = protocol.offers(await ask())
    const terms = chooseTerms(offers, policy(10_000n), () => undefined, asked())
    expect(terms).toMatchObject({ protocol: 'mpp_card', amountAtomic: 10_000n, payTo: 'profile_1' })

    const authorization = protocol.draw(terms, { seed: 'one', nowMs: Date.now(), lifetimeSeconds: 300 })
    const headers = await protocol.headers(authorization)
    expect(await protocol.headers(authorization)).toEqual(headers)
    expect(requests[0]).toEqual({
      amount: '1',
      currency: 'usd',
      networkId: 'profile_1',
      expiresAt: authorization.validBefore,
      paymentMethod: 'pm_1',
      idempotencyKey: authorization.paymentId,
    })
    expect(Credential.deserialize(headers['authorization']!).payload).toEqual({
      spt: `spt_${authorization.paymentId}`,
    })

    const answer = await ask(headers)
    expect(answer.status).toBe(200)
    expect(protocol.receipt(answer)).toEqual({ success: true, transaction: 'pi_1', reason: null })
    const again = await ask(headers)
    expect(again.status).toBe(402)
    expect(protocol.receipt(again)).toMatchObject({ success: false, reason: 'verification_failed' })
    expect(charges).toMatchObject([{ amount: 1, currency: 'usd' }])
  })

  test('is refused above the cap: 100 is a dollar, not a hundredth of a cent', async () => {
    const { ask } = openServer('1')
    const { protocol } = openCard()
    const offers = protocol.offers(await ask())
    expect(offers).toMatchObject([{ amount: '100' }])
    expect(() => chooseTerms(offers, policy(10_000n), () => undefined, asked())).toThrow(/1\.000000 is above/)
    expect(chooseTerms(offers, policy(1_000_000n), () => undefined, asked()).amountAtomic).toBe(1_000_000n)
  })

  test('stays in doubt for ever: nobody can say whether it was charged', async () => {
    const { ask } = openServer('0.01')
    const { protocol } = openCard()
    const terms = chooseTerms(protocol.offers(await ask()), policy(10_000n), () => undefined, asked())
    const authorization = protocol.draw(terms, { seed: 'one', nowMs: Date.now(), lifetimeSeconds: 300 })
    expect(await protocol.fate({ ...authorization, validBefore: 1 })).toEqual({ kind: 'unknown' })
  })

  test('sends nothing when the issuer gives no token', async () => {
    const { ask } = openServer('0.01')
    const protocol = createMppCard({
      paymentMethod: 'pm_1',
      createToken: () => Promise.reject(new Error('no')),
    })
    const terms = chooseTerms(protocol.offers(await ask()), policy(10_000n), () => undefined, asked())
    const authorization = protocol.draw(terms, { seed: 'one', nowMs: Date.now(), lifetimeSeconds: 300 })
    await expect(protocol.headers(authorization)).rejects.toMatchObject({ code: 'no_card_token' })
  })

  test.each([
    ['a recipient behind the profile', { recipient: 'acct_2' }, 'recipient'],
    ['another currency', { currency: 'jpy' }, 'asset'],
    ['metadata that overwrites the id', { metadata: { externalId: 'x' } }, 'transfer_method'],
    ['no card', { paymentMethodTypes: ['us_bank_account'] }, 'transfer_method'],
  ])('is refused for %s', (_, { metadata, paymentMethodTypes, ...change }: Record<string, unknown>, code) => {
    const header = Challenge.serialize(
      Challenge.from({
        id: 'one',
        realm: 'api.example',
        method: 'stripe',
        intent: 'charge',
        expires: new Date(Date.now() + 300_000).toISOString(),
        request: {
          amount: '1',
          currency: 'usd',
          ...change,
          methodDetails: {
            networkId: 'profile_1',
            paymentMethodTypes: paymentMethodTypes ?? ['card'],
            ...(metadata !== undefined && { metadata }),
          },
        },
      }),
    )
    const offers = openCard().protocol.offers({
      status: 402,
      headers: { 'www-authenticate': header },
      body: '',
    })
    expect(offers).toHaveLength(1)
    expect(() => chooseTerms(offers, policy(10_000n), () => undefined, asked())).toThrow(
      expect.objectContaining({ code }),
    )
  })
})
