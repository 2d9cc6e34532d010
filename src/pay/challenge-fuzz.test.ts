import { Credential } from 'mppx'
import fc from 'fast-check'
import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount, type LocalAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { sized } from '../../test/support/full-size.ts'
import { testSeed } from '../../test/support/seed.ts'
import { PaydirtError, PolicyDeniedError } from '../domain/errors.ts'
import type { PaymentProtocol, Terms } from '../domain/payment.ts'
import { asked, orders, payTo, responses } from './challenges.fixture.ts'
import { createMppCard } from './mpp/card.ts'
import { createMpp } from './mpp/protocol.ts'
import { basePolicy, chooseTerms, type SpendingPolicy } from './limits/spending-policy.ts'
import { createX402 } from './x402/protocol.ts'

const cases = sized(10_000, 3_000)
const seed = testSeed()

/** A wallet that records what it is asked to sign. */
const wallet: TypedDataDefinition[] = []
const account: LocalAccount = {
  ...privateKeyToAccount(`0x${'11'.repeat(32)}`),
  async signTypedData(data) {
    wallet.push(data as unknown as TypedDataDefinition)
    return `0x${'22'.repeat(65)}`
  },
}
const policy: SpendingPolicy = {
  ...basePolicy,
  maxPriceAtomic: 10_000n,
  recipients: [payTo],
  cardProfiles: ['profile_1'],
  order: [],
}
const protocols: PaymentProtocol[] = [
  createX402({ account, chain: undefined }),
  createMpp({ account, chain: undefined, domain: basePolicy }),
  createMppCard({
    paymentMethod: 'pm_1',
    createToken: async ({ idempotencyKey }) => `spt_${idempotencyKey}`,
  }),
]

test(`no challenge of ${cases} breaks the reading or gets anything signed outside the policy (seed ${seed})`, async () => {
  const signed = { x402: 0, mpp: 0, mpp_card: 0, api_key: 0 }
  let refused = 0
  let receipts = 0
  await fc.assert(
    fc.asyncProperty(responses, orders, async (head, order) => {
      const offers = protocols.flatMap((protocol) => protocol.offers(head))
      for (const protocol of protocols) if (protocol.receipt(head)?.success) receipts += 1
      let terms: Terms
      try {
        terms = chooseTerms(offers, { ...policy, order }, () => undefined, asked)
      } catch (error) {
        expect(error).toBeInstanceOf(PolicyDeniedError)
        refused += 1
        return
      }
      await expectWithinPolicy(terms)
      signed[terms.protocol] += 1
    }),
    { numRuns: cases, seed },
  )
  // A fuzz test that never passes the first check proves nothing.
  expect(signed.x402).toBeGreaterThan(cases / 20)
  expect(signed.mpp).toBeGreaterThan(cases / 20)
  expect(signed.mpp_card).toBeGreaterThan(cases / 100)
  expect(refused).toBeGreaterThan(cases / 5)
  expect(receipts).toBeGreaterThan(cases / 100)
})

/** Checks what the wallet is asked to sign, using none of the policy's own code. */
async function expectWithinPolicy(terms: Terms): Promise<void> {
  const protocol = protocols.find(({ name }) => name === terms.protocol)!
  const authorization = protocol.draw(terms, { seed: 'fuzz', nowMs: asked.nowMs, lifetimeSeconds: 300 })
  let headers: Record<string, string> = {}
  try {
    headers = await protocol.headers(authorization)
  } catch (error) {
    // Nothing was sent, signed or not.
    expect(error).toBeInstanceOf(PaydirtError)
  }
  for (const data of wallet.splice(0)) expectTransfer(data, authorization.nonce)
  const [name] = Object.keys(headers).filter((each) => each !== 'idempotency-key')
  if (name === undefined) return
  expect(name).toMatch(/^(x-payment|payment-signature|authorization|payment-authorization)$/)
  if (terms.protocol !== 'mpp_card') return
  const { challenge } = Credential.deserialize(headers[name]!)
  expect(challenge).toMatchObject({ method: 'stripe', intent: 'charge' })
  expect(challenge.request).toMatchObject({ amount: '1', currency: 'usd' })
}

function expectTransfer({ primaryType, domain, message }: TypedDataDefinition, nonce: string): void {
  expect(primaryType).toBe('TransferWithAuthorization')
  expect(domain).toEqual({
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: expect.stringMatching(new RegExp(`^${basePolicy.asset}$`, 'i')),
  })
  const { value, validBefore, ...rest } = message as Record<string, unknown>
  expect(rest).toEqual({ from: account.address, to: payTo, nonce, validAfter: 0n })
  expect(Number(value)).toBeGreaterThan(0)
  expect(Number(value)).toBeLessThanOrEqual(10_000)
  expect(Number(validBefore)).toBeLessThanOrEqual(asked.nowMs / 1000 + 600)
}
